import type { WorkspaceNote } from "../../core/model/events.js";
import type { GitProgram } from "./git-program.js";
import { readSubmodules, shownPath } from "./submodules.js";
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
