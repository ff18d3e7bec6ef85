import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import { commitCheckpoint, pinCheckpoints } from "./checkpoint.js";
import { readDifference } from "./difference.js";
import { dressSubmodules } from "./dress-tree.js";
import type { GitProgram } from "./git-program.js";
import { completeTree, makeTree, removeTree } from "./make-tree.js";
import { rememberOwnRepository } from "./own-repository.js";
import { inTree, keepIndex, withTemporaryIndex } from "./tree-index.js";
import type { Checkpoint } from "./workspace.js";
import type { WorkspacePaths } from "./workspace-paths.js";

export interface Replay {
  /** The pinned commit. */
  readonly commit: string;
  /** The commit that a new tree begins with; by default the pinned commit. */
  readonly base?: string;
  /** The checkpoints that count, oldest first. Superseded ones are left out. */
  readonly checkpoints: readonly Checkpoint[];
}

export type CheckpointCommit = Pick<Checkpoint, "ordinal" | "commit">;

export interface Rebuilt {
  readonly path: string;
  /** The commits of the checkpoints here. After an undone checkpoint, later ones get new commits. */
  readonly commits: readonly CheckpointCommit[];
}

/** Makes a new tree and replays the checkpoints in it. On an error no tree remains. Nothing else is touched. */
export async function rebuildTree(
  git: GitProgram,
  paths: WorkspacePaths,
  tree: number,
  replay: Replay,
): Promise<Rebuilt> {
  try {
    await assertPatches(paths, replay.checkpoints);
    const { commit: pinned, base = pinned } = replay;
    const path = await makeTree(git, paths, tree, { commit: pinned, base });
    const commits: CheckpointCommit[] = [];
    for (const checkpoint of replay.checkpoints) {
      const since = commits.at(-1)?.commit ?? base;
      const commit = await replayOne(git, paths, { tree, path, commit: since }, checkpoint);
      commits.push({ ordinal: checkpoint.ordinal, commit });
    }
    await pinCheckpoints(git, paths, commits);
    await dressSubmodules(git, paths, path);
    const last = commits.at(-1)?.commit ?? base;
    await rememberOwnRepository(git, paths, { tree, path }, { new: last, old: last });
    return { path: await completeTree(paths, tree), commits };
  } catch (error) {
    await removeTree(paths, tree);
    throw error;
  }
}

/** Checks that all patches exist before anything is made, because a missing one is the most common fault. */
async function assertPatches(paths: WorkspacePaths, checkpoints: readonly Checkpoint[]): Promise<void> {
  for (const { patch } of checkpoints) {
    const file = join(paths.run, patch);
    await access(file, constants.R_OK).catch((cause: NodeJS.ErrnoException) => {
      throw new DarumaError("WORKSPACE_PATCH_MISSING", `${file} cannot be read: ${cause.message}`, { cause });
    });
  }
}

/**
 * Replays one checkpoint and returns its commit. Equal hashes prove equal files, since a hash covers every changed file
 * before and after.
 */
async function replayOne(
  git: GitProgram,
  paths: WorkspacePaths,
  at: { readonly tree: number; readonly path: string; readonly commit: string },
  checkpoint: Checkpoint,
): Promise<string> {
  const file = join(paths.run, checkpoint.patch);
  return withTemporaryIndex(git, paths, at, async (index) => {
    const call = inTree(paths, at.path, index);
    // A step that changed nothing has an empty patch, which git would reject as broken.
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
    if (hash !== checkpoint.diff_hash)
      throw new DarumaError(
        "WORKSPACE_PATCH_ALTERED",
        `${file} was replayed, but the files are not those of checkpoint ${ordinal}`,
      );
    await keepIndex(paths, at.tree, index, { new: commit, old: since });
    return commit;
  });
}
