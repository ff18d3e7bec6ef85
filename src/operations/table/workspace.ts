import { z } from "zod";
import { operation } from "../operation.js";
import { applyRun, describeWorkspace } from "../runs/run-workspace.js";
import { runReference, runStatus } from "./schemas.js";

export const getWorkspaceOperation = operation({
  name: "get_workspace",
  summary: "tell where the workspace of a run lies, and what its steps have left in it",
  description:
    "The git workspace of a run: its folder on the server's machine, the pinned commit, the step that is at work there, the hard resets so far, and its checkpoints with their changed files and patches.",
  details:
    "`notes` are what one could miss in it: submodules that are empty, files that git LFS keeps elsewhere. A patch is an artifact of the run; with `stored` the store has it, too, so that another server can replay it. A superseded checkpoint is kept, but a reset does not replay it. `partials` are what attempts that did not complete had left when another step was to start: the patch, and how many files it changes.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ run_id: runReference }),
  output: z.object({
    run_id: z.number(),
    path: z.string().nullable(),
    repo: z.string().nullable(),
    commit: z.string().nullable(),
    notes: z.array(
      z.object({
        kind: z.enum(["empty_submodules", "lfs_pointers"]),
        paths: z.array(z.string()),
        message: z.string(),
      }),
    ),
    at_work: z.string().nullable(),
    resets: z.number(),
    checkpoints: z.array(
      z.object({
        ordinal: z.number(),
        job_id: z.number(),
        step: z.string(),
        scope: z.string(),
        attempt: z.number(),
        visit: z.number(),
        commit: z.string(),
        diff_hash: z.string().nullable(),
        changed_files: z.array(z.string()),
        patch: z.string(),
        at: z.string(),
        stored: z.boolean(),
        superseded: z.boolean(),
      }),
    ),
    partials: z.array(
      z.object({
        job_id: z.number(),
        step: z.string(),
        scope: z.string(),
        attempt: z.number(),
        files: z.number(),
        patch: z.string(),
        at: z.string(),
      }),
    ),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/workspace" },
  cli: [
    {
      words: "workspace",
      positional: ["run_id"],
      examples: ["daruma workspace 3", "daruma workspace last --json"],
    },
  ],
  handler: (context, { run_id }) => describeWorkspace(context, run_id),
});

const MAX_BRANCH_CHARS = 200;
const MAX_MESSAGE_CHARS = 10_000;

export const applyRunOperation = operation({
  name: "apply_run",
  summary: "take what a run has made in its workspace, as a patch or as a new branch",
  description:
    "Takes what a run changed in its workspace: as one patch for `git apply`, or with `branch` as one commit on a new branch of the repository that the run was started from.",
  details:
    "Nothing else of that repository is touched; a branch that exists is refused with WORKSPACE_BRANCH_EXISTS. The patch is the artifact that the answer names; a short one also stands in the answer. `unfinished_files` counts files changed since the last step that completed: of a run that failed, they are what the failed step left. Refused with WORKSPACE_BUSY while the run is at work.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({
    run_id: runReference,
    branch: z
      .string()
      .min(1)
      .max(MAX_BRANCH_CHARS)
      .optional()
      .describe("Make a branch of this name in place of a patch."),
    message: z
      .string()
      .min(1)
      .max(MAX_MESSAGE_CHARS)
      .optional()
      .describe("The message of its commit; by default it names workflow and run."),
  }),
  output: z.object({
    run_id: z.number(),
    status: runStatus,
    repo: z.string(),
    base: z.string(),
    unfinished_files: z.number(),
    branch: z.string().nullable(),
    commit: z.string().nullable(),
    patch: z
      .object({ artifact: z.string(), bytes: z.number(), files: z.number(), text: z.string().nullable() })
      .nullable(),
  }),
  rest: { method: "POST", path: "/runs/{run_id}/apply" },
  cli: [
    {
      words: "apply",
      positional: ["run_id"],
      examples: [
        "daruma apply 3 | git apply",
        "daruma apply 3 --patch result.patch",
        'daruma apply last --branch fix-login --message "Repair the login"',
      ],
    },
  ],
  actsOn: ({ run_id }) => [{ run: run_id }],
  handler: (context, input) => applyRun(context, input),
});
