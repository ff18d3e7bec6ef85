import { copyFile, mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { PRIVATE_FOLDER, syncFolder } from "./durable-file.js";
import type { GitProgram } from "./git-program.js";
import { forgetOwnRepository } from "./own-repository.js";
import { isFolder } from "./pointer.js";
import { removeFolder } from "./remove-folder.js";
import { treeTemplate } from "./run-store.js";
import { baseIndex } from "./tree-index.js";
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
