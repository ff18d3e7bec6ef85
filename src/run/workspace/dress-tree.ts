import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitProgram } from "./git-program.js";
import { lookWithin } from "./look-within.js";
import { treeTemplate } from "./run-store.js";
import { readSubmodules, type Submodule, shownPath } from "./submodules.js";
import type { WorkspacePaths } from "./workspace-paths.js";

const SHA1_CHARS = 40;

/**
 * Gives the submodules of a tree their own git again, at the pinned commit, as a checkout would. A step's `git
 * submodule update` then finds them, and `git status` shows what changed. Submodules whose files were not copied get an
 * empty folder. Call this last, since a checkpoint may have put something else in their place.
 */
export async function dressSubmodules(git: GitProgram, paths: WorkspacePaths, tree: string): Promise<void> {
  for (const submodule of await readSubmodules(paths.store)) {
    const path = shownPath(submodule);
    const found = await lookWithin(tree, path);
    if (!submodule.isTaken && found === "nothing") await mkdir(join(tree, path), { recursive: true });
    // A `.git` that exists is kept, because it holds the commits of earlier steps.
    const isBare =
      submodule.isTaken && found === "folder" && (await lookWithin(tree, `${path}/.git`)) === "nothing";
    if (isBare) await makeRepository(git, paths, tree, submodule);
  }
}

async function makeRepository(
  git: GitProgram,
  paths: WorkspacePaths,
  tree: string,
  submodule: Submodule,
): Promise<void> {
  const relative = shownPath(submodule);
  const path = join(tree, relative);
  const format = submodule.commit.length === SHA1_CHARS ? "sha1" : "sha256";
  const template = `--template=${treeTemplate(paths)}`;
  await git.run(["init", "--quiet", template, `--object-format=${format}`, "--", path], { cwd: path });
  const folder = join(path, ".git");
  const above = relative.split("/").map(() => "..");
  // The path leads from `trees/N/<path>/.git/objects`. It is relative so that the output folder can be moved.
  const objects = join("..", "..", ...above, "..", "..", "store.git", "objects");
  await writeFile(join(folder, "objects", "info", "alternates"), `${objects}\n`);
  if (submodule.shallow !== null) await writeFile(join(folder, "shallow"), submodule.shallow);
  const own = { cwd: path, env: { GIT_DIR: folder, GIT_WORK_TREE: path } };
  await git.run(["update-ref", "--no-deref", "HEAD", submodule.commit], own);
  await git.run(["read-tree", "HEAD"], own);
  // The exit status only says whether files differ, which is no error.
  await git.attempt(["update-index", "-q", "--refresh"], own);
}
