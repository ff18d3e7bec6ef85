import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { GitCall, GitProgram } from "./git-program.js";
import { lookWithin } from "./look-within.js";
import { splitAtNul } from "./split-at-nul.js";
import { readSubmodules, shownPath } from "./submodules.js";
import { inTree, withTemporaryIndex } from "./tree-index.js";
import type { WorkspacePaths } from "./workspace-paths.js";

/** How often a snapshot is tried: a file that a process still writes can vanish or change meanwhile. */
const SNAPSHOT_TRIES = 3;
const SLASH = "/".charCodeAt(0);
const NUL = Buffer.from([0]);

export interface TreeState {
  /** Git's id for all files: names, modes and contents. */
  readonly treeId: string;
  /** The index of the snapshot. It is removed afterwards unless it is kept. */
  readonly index: string;
}

/** Takes a snapshot of the files: tracked ones, and untracked ones that no .gitignore names. */
export async function withSnapshot<Result>(
  git: GitProgram,
  paths: WorkspacePaths,
  at: { readonly tree: number; readonly path: string; readonly commit: string },
  use: (state: TreeState) => Promise<Result>,
): Promise<Result> {
  return withTemporaryIndex(git, paths, at, async (index) => {
    const submodules = await foldersOf(paths, at.path);
    const look = { path: at.path, submodules };
    const treeId = await takeSnapshot(git, inTree(paths, at.path, index), look, SNAPSHOT_TRIES);
    return use({ treeId, index });
  });
}

interface Look {
  readonly path: string;
  /** Folders of submodules. Each applies its own .gitignore files, as a repository does. */
  readonly submodules: readonly Buffer[];
}

async function foldersOf(paths: WorkspacePaths, path: string): Promise<Buffer[]> {
  const folders: Buffer[] = [];
  for (const submodule of await readSubmodules(paths.store)) {
    const isThere = submodule.isTaken && (await lookWithin(path, shownPath(submodule))) === "folder";
    if (isThere) folders.push(Buffer.from(`${submodule.path}/`, "latin1"));
  }
  return folders;
}

async function takeSnapshot(git: GitProgram, call: GitCall, look: Look, triesLeft: number): Promise<string> {
  const { path, submodules } = look;
  try {
    const [nested, forced] = await Promise.all([
      findNestedRepositories(git, call),
      listForcedFiles(git, call, path),
    ]);
    const others = nested.map((folder) => `:(exclude,top,literal)${folder.toString("latin1")}`);
    await addAll(git, call, others);
    const files = [...forced, ...(await listNestedFiles(git, call, [...nested, ...submodules]))];
    if (files.length > 0)
      await git.run(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], {
        ...call,
        input: Buffer.concat(files.flatMap((file) => [file, NUL])),
      });
    return await git.line(["write-tree"], call);
  } catch (error) {
    if (triesLeft <= 1) throw error;
    return takeSnapshot(git, call, look, triesLeft - 1);
  }
}

/** Adds all files. Excluded paths go through a file, because an argument must be valid text and a name need not be. */
async function addAll(git: GitProgram, call: GitCall, others: readonly string[]): Promise<void> {
  if (others.length === 0) {
    await git.run(["add", "--all"], call);
    return;
  }
  const pathspecs = Buffer.from([":(top)", ...others].map((pathspec) => `${pathspec}\0`).join(""), "latin1");
  const args = ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"];
  await git.run(args, { ...call, input: pathspecs });
}

/**
 * Repositories that a step cloned or made within the tree. `git add` would record only their commit id, from which
 * their files could not be restored.
 */
async function findNestedRepositories(git: GitProgram, call: GitCall): Promise<Buffer[]> {
  const untracked = splitAtNul(await git.run(["ls-files", "-o", "--exclude-standard", "-z"], call));
  return untracked.filter((path) => path.at(-1) === SLASH);
}

/** The files of nested repositories, at any depth, except those that their own .gitignore files ignore. */
async function listNestedFiles(git: GitProgram, call: GitCall, nested: readonly Buffer[]): Promise<Buffer[]> {
  const files: Buffer[] = [];
  for (const folder of nested) {
    const cwd = Buffer.concat([Buffer.from(`${call.cwd}/`), folder]);
    const env = {
      ...call.env,
      GIT_WORK_TREE: cwd.toString("utf8"),
      GIT_INDEX_FILE: `${call.env?.GIT_INDEX_FILE}.none`,
    };
    const within = { cwd: cwd.toString("utf8"), env };
    const paths = splitAtNul(await git.run(["ls-files", "-o", "--exclude-standard", "-z"], within));
    const deeper = paths.filter((path) => path.at(-1) === SLASH);
    const found = [
      ...paths.filter((path) => path.at(-1) !== SLASH),
      ...(await listNestedFiles(git, within, deeper)),
    ];
    files.push(...found.map((path) => Buffer.concat([folder, path])));
  }
  return files;
}

/** Ignored files that a step added with `git add -f`. */
async function listForcedFiles(git: GitProgram, call: GitCall, path: string): Promise<Buffer[]> {
  const env = { ...call.env, GIT_INDEX_FILE: join(path, ".git", "index") };
  const args = ["ls-files", "-c", "-i", "--exclude-standard", "-z"];
  const { status, stdout } = await git.attempt(args, { ...call, env });
  // A step may have broken its own repository; its files still count.
  if (status !== 0) return [];
  const files: Buffer[] = [];
  for (const file of splitAtNul(stdout)) if (await isNoFolder(path, file)) files.push(file);
  return files;
}

async function isNoFolder(path: string, file: Buffer): Promise<boolean> {
  try {
    return !(await lstat(Buffer.concat([Buffer.from(`${path}/`), file]))).isDirectory();
  } catch {
    return true;
  }
}
