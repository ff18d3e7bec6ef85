import { randomUUID } from "node:crypto";
import { link, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PRIVATE_FOLDER } from "./durable-file.js";
import type { GitProgram } from "./git-program.js";
import type { Workspace } from "./workspace.js";
import type { WorkspacePaths } from "./workspace-paths.js";

const TEMPORARY = "tmp-";

/** The path of our index of a tree at a commit: it lists the known paths, and saves reading unchanged files. */
export function baseIndex(paths: WorkspacePaths, tree: number, commit: string): string {
  return join(paths.indexes, String(tree), commit);
}

/**
 * Makes a temporary index for one snapshot. It always begins with the paths of the commit, never with those of an
 * earlier snapshot: otherwise a file of a failed attempt would stay known even after it is ignored.
 */
export async function withTemporaryIndex<Result>(
  git: GitProgram,
  paths: WorkspacePaths,
  at: { readonly tree: number; readonly path: string; readonly commit: string },
  use: (index: string) => Promise<Result>,
): Promise<Result> {
  const kept = baseIndex(paths, at.tree, at.commit);
  const index = join(dirname(kept), `${TEMPORARY}${randomUUID()}`);
  await mkdir(dirname(kept), { recursive: true, mode: PRIVATE_FOLDER });
  try {
    // A hard link keeps the file's time, by which git knows which entries it cannot trust. A copy would not.
    await link(kept, index).catch(() => git.run(["read-tree", at.commit], inTree(paths, at.path, index)));
    return await use(index);
  } finally {
    await rm(index, { force: true });
  }
}

/** Makes the snapshot's index that of the new commit. Only this one and the previous one are kept. */
export async function keepIndex(
  paths: WorkspacePaths,
  tree: number,
  index: string,
  commits: { readonly new: string; readonly old: string },
): Promise<void> {
  await rename(index, baseIndex(paths, tree, commits.new));
  const folder = join(paths.indexes, String(tree));
  for (const name of await readdir(folder))
    if (name !== commits.new && name !== commits.old && !name.startsWith(TEMPORARY))
      await rm(join(folder, name), { force: true });
}

/** Options for git with our repository, the tree's files and an index of our own. */
export function inTree(paths: WorkspacePaths, path: string, index: string) {
  return { cwd: path, env: { GIT_DIR: paths.store, GIT_WORK_TREE: path, GIT_INDEX_FILE: index } };
}

/**
 * Environment for a step that works in the tree. Without the ceiling, a step that has deleted its `.git` would find the
 * user's repository around the output folder.
 */
export function stepEnvironment(workspace: Workspace): { readonly [name: string]: string } {
  return { GIT_CEILING_DIRECTORIES: dirname(workspace.path) };
}
