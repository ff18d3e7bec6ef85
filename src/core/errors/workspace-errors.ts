import type { CatalogueEntry } from "./catalogue-entry.js";

/** The part of the catalogue in `errors.ts` that is about git workspaces. */
export const WORKSPACE_ERRORS = {
  WORKSPACE_BRANCH_EXISTS: {
    means: "The branch for a run's result cannot be made, because it or one in its way exists.",
    next: "Give another name with --branch.",
    asked: "Give another `branch`.",
  },
  WORKSPACE_BRANCH_INVALID: {
    means: "The name given for a branch is not one that git takes.",
    next: "Give another name with --branch.",
    asked: "Give another `branch`.",
  },
  WORKSPACE_ELSEWHERE: {
    means:
      "The workspace of the run lies in another output folder, and cannot be built here from its checkpoints.",
    next: "Go on with the run where its files are, or put right what the message names; the run waits.",
  },
  WORKSPACE_FORK: {
    means: "The forked run would lack the files that earlier steps have left in the workspace.",
    next: "Go back within the run itself: `daruma resume-from RUN STEP`.",
    asked: "Go back within the run itself: control_run with action resume_from_step.",
  },
  WORKSPACE_GIT_FAILED: {
    means: "git failed in a way that Daruma did not expect.",
    next: "See the message; check the disk and the permissions.",
  },
  WORKSPACE_GIT_MISSING: {
    means: "The program git is not installed, or too old for workspaces.",
    next: "Install git 2.32 or newer.",
  },
  WORKSPACE_NOT_FOUND: {
    means: "The run has no workspace, or its folder is gone.",
    next: "If the workflow has a workspace, `daruma hard-reset RUN STEP` builds it again from its checkpoints.",
    asked:
      "If the workflow has a workspace, control_run with action hard_reset_step builds it again from its checkpoints.",
  },
  WORKSPACE_OBJECTS_MISSING: {
    means: "The repository lacks contents of the commit: it is a partial clone, or damaged.",
    next: "Check the commit out there, which fetches what a partial clone lacks; `git fsck` shows damage.",
  },
  WORKSPACE_PATCH_ALTERED: {
    means: "The patch of a checkpoint is not the recorded one, so the workspace was not rebuilt.",
    next: "Put the file back, or go back to a step before it: `daruma resume-from RUN STEP`.",
    asked: "Put the file back, or go back to a step before it: control_run with action resume_from_step.",
  },
  WORKSPACE_PATCH_FAILED: {
    means: "The patch of a checkpoint does not apply, so the workspace was not rebuilt.",
    next: "Go back to a step before it: `daruma resume-from RUN STEP`.",
    asked: "Go back to a step before it: control_run with action resume_from_step.",
  },
  WORKSPACE_PATCH_MISSING: {
    means: "The patch of a checkpoint is gone, so the workspace was not rebuilt.",
    next: "Put the file back, or go back to a step before it: `daruma resume-from RUN STEP`.",
    asked: "Put the file back, or go back to a step before it: control_run with action resume_from_step.",
  },
  WORKSPACE_PATCH_TOO_LARGE: {
    means: "A step changed more than git can replay from one patch.",
    next: "Name large results in a .gitignore, or split the step.",
  },
  WORKSPACE_REF_NOT_FOUND: {
    means: "The repository has no such branch, tag or commit.",
    next: "Correct `workspace.ref` in the file.",
  },
  WORKSPACE_REPO_NOT_FOUND: {
    means: "There is no git repository there, or git refuses to read it.",
    next: "Correct `workspace.repo` in the file; see the message.",
  },
  WORKSPACE_SUBMODULE_CHANGED: {
    means:
      "The run has changed files of a submodule, which a branch of the repository around it cannot hold.",
    next: "Take the result as a patch: `daruma apply RUN --patch FILE`, then `git apply FILE` in the repository.",
    asked: "Ask for it without `branch`, and give the patch to `git apply` in the repository.",
  },
  WORKSPACE_SUBMODULE_MISSING: {
    means: "A submodule that is checked out in the repository lacks the commit that is pinned.",
    next: "Run `git submodule update --init --recursive` in the repository.",
    asked: "Check the submodules out in the repository.",
  },
} as const satisfies Record<string, CatalogueEntry>;
