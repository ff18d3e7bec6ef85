import { access, constants, copyFile, mkdir, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import { commitCheckpoint, pinCheckpoints } from "./checkpoint.js";
import { dressSubmodules } from "./dress-tree.js";
import { PRIVATE_FOLDER, syncFolder } from "./durable-file.js";
import type { GitProgram } from "./git-program.js";
import { forgetOwnRepository, rememberOwnRepository } from "./own-repository.js";
import { readDifference } from "./patch.js";
import { isFolder } from "./pointer.js";
import { removeFolder } from "./remove-folder.js";
import { treeTemplate } from "./run-store.js";
import { baseIndex, inTree, keepIndex, withTemporaryIndex } from "./tree-index.js";
import type { Checkpoint } from "./workspace.js";
import { treeFolder, type WorkspacePaths } from "./workspace-paths.js";

/** Suffix of an unfinished tree. Nothing but the code that builds it reads it. */
const HALF_MADE = ".partial";

/** The number of the next tree: one above all existing ones, finished or not. */
export async function nextTree(paths: WorkspacePaths): Promise<number> {
  const numbers = (await listTrees(paths)).map((name) => Number.parseInt(name, 10));
  return Math.max(0, ...numbers) + 1;
}

/**
 * Makes a new, still unfinished tree at the base commit. Its HEAD and index are those of the pinned commit, so a step's
 * `git status` shows what earlier steps changed.
 */
export async function makeTree(
  git: GitProgram,
  paths: WorkspacePaths,
  tree: number,
  { commit, base }: { readonly commit: string; readonly base: string },
): Promise<string> {
  const path = `${treeFolder(paths, tree)}${HALF_MADE}`;
  await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER });
  const store = { cwd: path, env: { GIT_DIR: paths.store } };
  const format = await git.line(["rev-parse", "--show-object-format"], store);
  const template = `--template=${treeTemplate(paths)}`;
  await git.run(["init", "--quiet", template, `--object-format=${format}`, "--", path], { cwd: path });
  await copyRefs(paths, path);
  const own = { cwd: path, env: { GIT_DIR: join(path, ".git"), GIT_WORK_TREE: path } };
  await git.run(["update-ref", "--no-deref", "HEAD", base], own);
  await git.run(["reset", "--hard", "--quiet"], own);
  const index = baseIndex(paths, tree, base);
  await mkdir(join(index, ".."), { recursive: true, mode: PRIVATE_FOLDER });
  await copyFile(join(path, ".git", "index"), index);
  if (base === commit) return path;
  await git.run(["update-ref", "--no-deref", "HEAD", commit], own);
  await git.run(["reset", "--mixed", "--quiet"], own);
  return path;
}

/** Copies branches and tags as they were when the store was made. */
async function copyRefs(paths: WorkspacePaths, path: string): Promise<void> {
  const present = new Set(await readdir(paths.store));
  for (const name of ["packed-refs", "shallow"])
    if (present.has(name)) await copyFile(join(paths.store, name), join(path, ".git", name));
}

/** Renames a finished tree to its final name. From then on it can be found. */
export async function completeTree(paths: WorkspacePaths, tree: number): Promise<string> {
  const path = treeFolder(paths, tree);
  await rename(`${path}${HALF_MADE}`, path);
  await syncFolder(paths.trees);
  return path;
}

export async function removeTree(paths: WorkspacePaths, tree: number): Promise<void> {
  await removeFolder(treeFolder(paths, tree));
  await removeFolder(`${treeFolder(paths, tree)}${HALF_MADE}`);
  await removeFolder(join(paths.indexes, String(tree)));
  await forgetOwnRepository(paths, tree);
}

/** Removes trees that a crash, or a failed attempt in a candidate, left behind. */
export async function removeOtherTrees(paths: WorkspacePaths, keep: number | null): Promise<void> {
  const numbers = new Set((await listTrees(paths)).map((name) => Number.parseInt(name, 10)));
  if (keep !== null) numbers.delete(keep);
  for (const number of numbers) await removeTree(paths, number);
}

async function listTrees(paths: WorkspacePaths): Promise<string[]> {
  const names = [...(await listFolder(paths.trees)), ...(await listFolder(paths.indexes))];
  return names.filter((name) => /^\d+(\.partial)?$/.test(name));
}

async function listFolder(path: string): Promise<string[]> {
  return (await isFolder(path)) ? readdir(path) : [];
}

export interface Replay {
  /** The pinned commit. */
  readonly commit: string;
  /** The commit that a new tree begins with; by default the pinned commit. */
  readonly base?: string;
  /** The checkpoints that count, oldest first. Superseded ones are left out. */
  readonly checkpoints: readonly Checkpoint[];
}

export type CheckpointCommit = Pick<Checkpoint, "ordinal" | "commit">;

interface Rebuilt {
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
