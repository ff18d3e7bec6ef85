import {
  constants,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { PRIVATE_FOLDER } from "./durable-file.js";
import type { GitProgram } from "./git-program.js";
import type { WorkspacePaths } from "./workspace-paths.js";

/** Files that git keeps during a merge, rebase or bisection. */
const UNFINISHED =
  /^(?:MERGE_|CHERRY_PICK_HEAD|REVERT_HEAD|REBASE_HEAD|AUTO_MERGE|BISECT_|rebase-|sequencer$)/;
const LOCK = /\.lock$/;

interface Tree {
  readonly tree: number;
  readonly path: string;
}

/** The HEAD of a tree's own repository: on a branch (without a commit if it has none yet), or on a commit. */
interface Position {
  readonly branch: string | null;
  readonly commit: string | null;
}

/**
 * Saves where a tree's own repository stands. Steps may stage and commit in it. The position is kept beside the
 * checkpoint's index, for the new checkpoint and the one before. If a step has broken the repository, nothing is kept.
 */
export async function rememberOwnRepository(
  git: GitProgram,
  paths: WorkspacePaths,
  at: Tree,
  commits: { readonly new: string; readonly old: string },
): Promise<void> {
  const folder = positionsOf(paths, at.tree);
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  for (const name of await readdir(folder))
    if (name.split(".", 1)[0] !== commits.old) await rm(join(folder, name), { force: true });
  if (await hasOwnRepository(at)) await keepPosition(git, at, join(folder, commits.new)).catch(() => {});
}

async function keepPosition(git: GitProgram, at: Tree, kept: string): Promise<void> {
  const call = inOwn(at);
  const branch = await git.attempt(["symbolic-ref", "--quiet", "HEAD"], call);
  const commit = await git.attempt(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], call);
  const position: Position = { branch: lineOf(branch), commit: lineOf(commit) };
  await copyIfThere(join(at.path, ".git", "index"), `${kept}.index`);
  await writeFile(`${kept}.json`, JSON.stringify(position));
}

/**
 * Resets a tree's own repository: whatever a later attempt has staged, committed or begun is undone. Its commits remain
 * as objects without a ref.
 */
export async function takeOwnRepositoryBack(
  git: GitProgram,
  paths: WorkspacePaths,
  at: Tree,
  commit: string,
): Promise<void> {
  if (!(await hasOwnRepository(at))) return;
  const own = join(at.path, ".git");
  await removeLeftBehind(own);
  const kept = join(positionsOf(paths, at.tree), commit);
  const text = await readFile(`${kept}.json`, "utf8").catch(() => null);
  if (text === null) return;
  const position = JSON.parse(text) as Position;
  const call = inOwn(at);
  const { branch } = position;
  if (branch !== null) await git.attempt(["symbolic-ref", "HEAD", branch], call);
  const name = branch ?? "HEAD";
  const to = position.commit === null ? ["-d", name] : ["--no-deref", name, position.commit];
  await git.attempt(["update-ref", ...to], call);
  await rm(join(own, "index"), { force: true });
  await copyIfThere(`${kept}.index`, join(own, "index.daruma"));
  await rename(join(own, "index.daruma"), join(own, "index")).catch(() => {});
}

export async function forgetOwnRepository(paths: WorkspacePaths, tree: number): Promise<void> {
  await rm(positionsOf(paths, tree), { recursive: true, force: true });
}

/** Removes the locks of processes that were killed, which would make every later `git add` fail. */
async function removeLeftBehind(own: string): Promise<void> {
  const names = await readdir(own).catch(() => []);
  for (const name of names)
    if (LOCK.test(name) || UNFINISHED.test(name)) await rm(join(own, name), { recursive: true, force: true });
  const refs = await readdir(join(own, "refs"), { recursive: true }).catch(() => []);
  for (const name of refs) if (LOCK.test(name)) await rm(join(own, "refs", name), { force: true });
}

/**
 * Whether `.git` is a real folder. A symbolic link does not count: a step may have made it, and it may lead to a
 * repository of somebody else.
 */
async function hasOwnRepository({ path }: Tree): Promise<boolean> {
  return lstat(join(path, ".git")).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function inOwn({ path }: Tree) {
  return { cwd: path, env: { GIT_DIR: join(path, ".git"), GIT_WORK_TREE: path } };
}

function positionsOf(paths: WorkspacePaths, tree: number): string {
  return join(paths.positions, String(tree));
}

function lineOf({ status, stdout }: { readonly status: number; readonly stdout: Buffer }): string | null {
  return status === 0 ? stdout.toString("utf8").trim() : null;
}

async function copyIfThere(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
