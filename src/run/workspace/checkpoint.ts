import { join } from "node:path";
import { writeDurably } from "./durable-file.js";
import type { GitProgram } from "./git-program.js";
import { rememberOwnRepository } from "./own-repository.js";
import { readDifference, writePatch } from "./patch.js";
import { withSnapshot } from "./snapshot.js";
import { keepIndex } from "./tree-index.js";
import type { Checkpoint, Workspace } from "./workspace.js";
import { checkpointRef, ordinalText, patchFile, stateFile, type WorkspacePaths } from "./workspace-paths.js";

/** How many changed files a checkpoint lists itself. Its state file lists all. */
export const MAX_LISTED_FILES = 200;

/** The date of every checkpoint commit, fixed so that the commit id does not depend on when it was made. */
const NO_DATE = "@0 +0000";

export interface CheckpointInput {
  readonly ordinal: number;
  readonly stepId: string;
  readonly index: number;
  readonly attempts: number;
  readonly at: number;
  /** The commit of the previous checkpoint that still counts, or the pinned commit for the first one. */
  readonly since: string;
  /** Redacts a file name for display: it may contain a secret. The patch has the real name. */
  readonly shown?: (name: string) => string;
}

export interface MadeCheckpoint extends Checkpoint {
  /** The first changed files. The state file lists all. */
  readonly changedFiles: readonly string[];
  readonly changedFileCount: number;
  /** The patch was also stored where every server finds it. */
  readonly stored?: boolean;
}

/**
 * Saves what changed since the previous checkpoint. Every part is written atomically under its ordinal, so after a
 * crash at any point the same call gives the same result. The patch starts from the commit that the caller's log names,
 * not from the latest one on disk, which a crash may have left unrecorded.
 */
export async function makeCheckpoint(
  git: GitProgram,
  paths: WorkspacePaths,
  workspace: Workspace,
  input: CheckpointInput,
): Promise<MadeCheckpoint> {
  const { ordinal, since } = input;
  const { tree, path } = workspace;
  return withSnapshot(git, paths, { tree, path, commit: since }, async ({ treeId, index }) => {
    const ends = { store: paths.store, from: since, to: treeId };
    const patch = patchFile(ordinal);
    const [{ hash, changedFiles }, commit] = await Promise.all([
      readDifference(git, ends),
      commitCheckpoint(git, paths, { ordinal, since, treeId }),
      writePatch(git, ends, join(paths.run, patch)),
    ]);
    await pinCheckpoints(git, paths, [{ ordinal, commit }]);
    await keepIndex(paths, tree, index, { new: commit, old: since });
    await rememberOwnRepository(git, paths, workspace, { new: commit, old: since });
    const checkpoint: Checkpoint = { ordinal, commit, diff_hash: hash, patch };
    const shown = input.shown === undefined ? changedFiles : changedFiles.map(input.shown);
    await writeState(paths, input, checkpoint, shown);
    return { ...checkpoint, changedFiles: shown.slice(0, MAX_LISTED_FILES), changedFileCount: shown.length };
  });
}

export async function commitCheckpoint(
  git: GitProgram,
  paths: WorkspacePaths,
  of: { readonly ordinal: number; readonly since: string; readonly treeId: string },
): Promise<string> {
  const message = `Checkpoint ${ordinalText(of.ordinal)}\n`;
  return commitTree(git, paths, { ...of, message, date: NO_DATE });
}

/** Creates private refs that keep the commits, and with them the files, from garbage collection. */
export async function pinCheckpoints(
  git: GitProgram,
  paths: WorkspacePaths,
  checkpoints: readonly Pick<Checkpoint, "ordinal" | "commit">[],
): Promise<void> {
  const updates = checkpoints.map(({ ordinal, commit }) => `update ${checkpointRef(ordinal)} ${commit}\n`);
  const call = { cwd: paths.store, env: { GIT_DIR: paths.store }, input: updates.join("") };
  await git.run(["update-ref", "--stdin"], call);
}

export async function commitTree(
  git: GitProgram,
  paths: Pick<WorkspacePaths, "store">,
  of: { readonly treeId: string; readonly since: string; readonly message: string; readonly date: string },
): Promise<string> {
  const env = { GIT_DIR: paths.store, GIT_AUTHOR_DATE: of.date, GIT_COMMITTER_DATE: of.date };
  const args = ["commit-tree", of.treeId, "-p", of.since, "-F", "-"];
  return git.line(args, { cwd: paths.store, env, input: of.message });
}

async function writeState(
  paths: WorkspacePaths,
  input: CheckpointInput,
  checkpoint: Checkpoint,
  changedFiles: readonly string[],
): Promise<void> {
  const state = {
    ordinal: input.ordinal,
    step_id: input.stepId,
    index: input.index,
    attempts: input.attempts,
    diff_hash: checkpoint.diff_hash,
    changed_files: changedFiles,
    at: new Date(input.at).toISOString(),
    since: input.since,
    commit: checkpoint.commit,
    patch: checkpoint.patch,
  };
  const file = join(paths.run, stateFile(input.ordinal));
  await writeDurably(file, (handle) => handle.writeFile(`${JSON.stringify(state, null, 2)}\n`));
}
