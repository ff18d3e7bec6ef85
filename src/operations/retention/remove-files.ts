import { runFolder, runLogFolder } from "../../run/worker/attempt-paths.js";
import { workFolderOf } from "../../run/worker/work-folder.js";
import { removeFolder } from "../../run/workspace/remove-folder.js";
import { forgetRemovedFiles } from "./removed-files.js";

/**
 * Removes logs, artifacts and workspaces of runs. Their rows must be removed first, because a run without files would
 * look like one that lost them.
 */
export async function removeFiles(outputDir: string, runs: ReadonlySet<number>): Promise<void> {
  await removeArtifacts(outputDir, runs);
  await removeLogs(outputDir, runs);
  for (const runId of runs) forgetRemovedFiles(outputDir, runId);
}

export async function removeArtifacts(outputDir: string, runs: ReadonlySet<number>): Promise<void> {
  for (const runId of runs)
    for (const folder of [runFolder(outputDir, runId), workFolderOf(outputDir, runId)])
      await removeFolder(folder);
}

export async function removeLogs(outputDir: string, runs: ReadonlySet<number>): Promise<void> {
  for (const runId of runs) await removeFolder(runLogFolder(outputDir, runId));
}
