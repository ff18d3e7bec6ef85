import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import { DarumaError } from "../core/errors.js";
import { commitCheckpoint, pinCheckpoints } from "./checkpoint.js";
import { readDifference } from "./difference.js";
import type { GitProgram } from "./git-program.js";
import { completeTree, makeTree, removeTree } from "./make-tree.js";
import { inTree, keepIndex, withTemporaryIndex } from "./tree-index.js";
import type { Checkpoint } from "./workspace.js";
import type { WorkspacePaths } from "./workspace-paths.js";

export interface Replay {
  /** The pinned commit. */
  readonly commit: string;
  /** Those that count, oldest first; superseded ones are not among them. */
  readonly checkpoints: readonly Checkpoint[];
}

/** A new tree with the checkpoints replayed, or an error and no tree. Nothing else is touched. */
export async function rebuildTree(
  git: GitProgram,
  paths: WorkspacePaths,
  tree: number,
  replay: Replay,
): Promise<string> {
  try {
    await assertPatches(paths, replay.checkpoints);
    const path = await makeTree(git, paths, tree, replay.commit);
    let since = replay.commit;
    for (const checkpoint of replay.checkpoints) {
      await replayOne(git, paths, { tree, path, commit: since }, checkpoint);
      since = checkpoint.commit;
    }
    await pinCheckpoints(git, paths, replay.checkpoints);
    return await completeTree(paths, tree);
  } catch (error) {
    await removeTree(paths, tree);
    throw error;
  }
}

/** Before anything is made, because it is the commonest fault. */
async function assertPatches(paths: WorkspacePaths, checkpoints: readonly Checkpoint[]): Promise<void> {
  for (const { patch } of checkpoints) {
    const file = join(paths.run, patch);
    await access(file, constants.R_OK).catch((cause: NodeJS.ErrnoException) => {
      throw new DarumaError("WORKSPACE_PATCH_MISSING", `${file} cannot be read: ${cause.message}`, { cause });
    });
  }
}

async function replayOne(
  git: GitProgram,
  paths: WorkspacePaths,
  at: { readonly tree: number; readonly path: string; readonly commit: string },
  checkpoint: Checkpoint,
): Promise<void> {
  const file = join(paths.run, checkpoint.patch);
  await withTemporaryIndex(git, paths, at, async (index) => {
    const call = inTree(paths, at.path, index);
    // Of a step that changed nothing; git takes an empty patch for a broken one.
    if ((await stat(file)).size > 0) {
      const args = ["apply", "--index", "--binary", "--whitespace=nowarn", file];
      const { status, stderr } = await git.attempt(args, call);
      if (status !== 0)
        throw new DarumaError(
          "WORKSPACE_PATCH_FAILED",
          `${file} does not apply: ${stderr.split("\n", 1)[0]}`,
        );
    }
    const treeId = await git.line(["write-tree"], call);
    const { ordinal } = checkpoint;
    const since = at.commit;
    const [{ hash }, commit] = await Promise.all([
      readDifference(git, { store: paths.store, from: since, to: treeId }),
      commitCheckpoint(git, paths, { ordinal, since, treeId }),
    ]);
    if (hash !== checkpoint.diffHash || commit !== checkpoint.commit)
      throw new DarumaError(
        "WORKSPACE_PATCH_ALTERED",
        `${file} was replayed, but the files are not those of checkpoint ${ordinal}`,
      );
    await keepIndex(paths, at.tree, index, { new: commit, old: since });
  });
}
