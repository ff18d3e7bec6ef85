import type { GitProgram } from "./git-program.js";
import { isFolder } from "./pointer.js";

export async function hasCommit(git: GitProgram, store: string, commit: string): Promise<boolean> {
  if (!(await isFolder(store))) return false;
  const call = { cwd: store, env: { GIT_DIR: store } };
  return (await git.attempt(["cat-file", "-e", `${commit}^{commit}`], call)).status === 0;
}

/** How many objects of the commit's files (not of its history) are missing. Null if the commit itself is missing. */
export async function countMissing(git: GitProgram, store: string, commit: string): Promise<number | null> {
  if (!(await hasCommit(git, store, commit))) return null;
  const args = ["rev-list", "--objects", "--no-walk", "--quiet", "--missing=print", commit];
  const printed = await git.run(args, { cwd: store, env: { GIT_DIR: store } });
  return printed.toString("latin1").split("\n").filter(Boolean).length;
}
