import type { WorkspaceNote } from "../../core/model/events.js";
import { listNames } from "../lookup/job-name.js";

/** One line for people: what they could miss in a workspace. */
export function noteText(note: WorkspaceNote): string {
  switch (note.kind) {
    case "empty_submodules":
      return `${note.paths.length === 1 ? "this submodule is" : "these submodules are"} not checked out in the repository and empty in the workspace: ${listNames(note.paths, (path) => path)}`;
    case "lfs_pointers":
      return "files that git LFS keeps elsewhere are pointers in the workspace; `git lfs pull` is not run";
  }
}
