import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { logFolder, runFolder } from "../../worker/attempt-paths.js";
import { workFolderOf } from "../../worker/work-folder.js";
import { removeFolder } from "../../workspace/remove-folder.js";

const LOG_OF_RUN = /^job_wf\d+_j\d+_r(\d+)_a\d+\./;

/** Logs, artifacts and workspaces of runs. After their rows: a run without its files could not be told from one that lost them. */
export async function removeFiles(outputDir: string, runs: ReadonlySet<number>): Promise<void> {
  for (const runId of runs)
    for (const folder of [runFolder(outputDir, runId), workFolderOf(outputDir, runId)])
      await removeFolder(folder);
  if (runs.size === 0) return;
  for (const name of logNames(outputDir))
    if (runs.has(Number(LOG_OF_RUN.exec(name)?.[1])))
      rmSync(join(logFolder(outputDir), name), { force: true });
}

function logNames(outputDir: string): string[] {
  try {
    return readdirSync(logFolder(outputDir));
  } catch {
    return [];
  }
}
