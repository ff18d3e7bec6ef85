import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { GitProgram } from "./git-program.js";
import type { Workspace } from "./workspace.js";
import type { WorkspacePaths } from "./workspace-paths.js";

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
