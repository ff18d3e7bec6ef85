import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { WorkspaceNote } from "../../core/model/events.js";
import type { GitProgram } from "./git-program.js";
import { readSubmodules, shownPath } from "./submodules.js";
import type { Workspace } from "./workspace.js";
import type { WorkspacePaths } from "./workspace-paths.js";

/** What a user could miss in a new workspace. It is shown before the first step. */
export async function notesOf(
  git: GitProgram,
  { store }: WorkspacePaths,
  base: string,
): Promise<WorkspaceNote[]> {
  const notes: WorkspaceNote[] = [];
  const empty = (await readSubmodules(store)).filter(({ isTaken }) => !isTaken).map(shownPath);
  if (empty.length > 0) notes.push({ kind: "empty_submodules", paths: empty });
  const args = ["grep", "--quiet", "-e", "filter=lfs", base, "--", ":(glob)**/.gitattributes"];
  const { status } = await git.attempt(args, { cwd: store, env: { GIT_DIR: store } });
  if (status === 0) notes.push({ kind: "lfs_pointers" });
  return notes;
}

/** Returns those of the paths that are files in the user's working tree but missing in the workspace's base commit. */
export async function uncommittedFiles(
  git: GitProgram,
  { store }: WorkspacePaths,
  { repo, base }: Pick<Workspace, "repo" | "base">,
  names: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    const there = await lstat(join(repo, name)).catch(() => null);
    if (!there?.isFile()) continue;
    const call = { cwd: store, env: { GIT_DIR: store } };
    const { status } = await git.attempt(["cat-file", "-e", `${base}:${name}`], call);
    if (status !== 0) found.push(name);
  }
  return found;
}
