import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Advice, DarumaError } from "../../core/errors/errors.js";
import { isOver, type Run } from "../../core/model/run.js";
import { lastCommit } from "../../core/model/workspace-state.js";
import { runFolder } from "../../run/worker/attempt-paths.js";
import type { Workspace } from "../../run/workspace/workspace.js";
import { openWorkspaces, type Workspaces } from "../../run/workspace/workspaces.js";
import { ownerOf, unownedRuns } from "../../tell/lookup/run-owner.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { key, runReference, runStatus } from "../schemas.js";
import { loadWithWorkspace, presentWorkspace } from "./run-workspace.js";

const MAX_BRANCH_CHARS = 200;

const MAX_MESSAGE_CHARS = 10_000;

const input = z.strictObject({
  run_id: runReference,
  branch: z
    .string()
    .min(1)
    .max(MAX_BRANCH_CHARS)
    .optional()
    .describe("Create a branch with this name instead of a patch."),
  message: z
    .string()
    .min(1)
    .max(MAX_MESSAGE_CHARS)
    .optional()
    .describe("The commit message; by default it names the workflow and the run."),
  key,
});
type ApplyRequest = z.output<typeof input>;

export const applyRun = operation({
  name: "apply_run",
  summary: "get the result of a run's workspace as a patch or a new branch",
  description:
    "Returns what a run changed in its workspace: as one patch for `git apply`, or with `branch` as one commit on a new branch of the repository the run was started from.",
  details:
    "Nothing else in that repository is touched; an existing branch is refused with WORKSPACE_BRANCH_EXISTS. The patch is the artifact that the answer names; a short patch is also in the answer itself. `unfinished_files` counts the files changed since the last completed step: in a failed run, what the failed step left. Refused with WORKSPACE_BUSY while the run is working there.",
  role: "operator",
  effect: "changes",
  keepsAnswer: true,
  input,
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
  handler: applyResult,
});

/** Below the run's folder, so that it can be read piece by piece as any artifact. */
const RESULT_PATCH = "result.patch";

/** What an answer carries itself. */
const MAX_INLINE_PATCH_BYTES = 1_024 * 1_024;

/** What the run has made of the pinned commit: one patch, or one commit on a new branch of the user's repository. */
async function applyResult(context: Context, { run_id, branch, message }: ApplyRequest) {
  const { outputDir } = context;
  const run = await loadWithWorkspace(context, run_id);
  refuseWhileAtWork(run, await isLeft(context, run));
  const workspaces = openWorkspaces({ outputDir });
  const workspace = await presentWorkspace(workspaces, run);
  if (workspace === null) throw new DarumaError("WORKSPACE_NOT_FOUND", notHere(run, outputDir));
  const since = lastCommit(run) ?? workspace.base;
  const { changedFileCount } = await workspaces.changes(workspace, since);
  const known = {
    run_id: run.id,
    status: run.status,
    repo: workspace.repo,
    base: workspace.commit,
    unfinished_files: changedFileCount,
  };
  if (branch === undefined) return { ...known, ...(await asPatch(workspaces, workspace, since, outputDir)) };
  const text = message ?? `${run.workflow}: result of run ${run.id}`;
  const commit = await workspaces.resultBranch(workspace, {
    since,
    repo: workspace.repo,
    name: branch,
    message: `${text}\n`,
    at: context.now(),
  });
  return { ...known, branch, commit, patch: null };
}

function notHere({ id, workspace: { path, home } }: Run, outputDir: string): string {
  const where = path === null ? "" : `; it was last in ${path}${home === null ? "" : ` on ${home.host}`}`;
  return `the workspace of run ${id} is not in ${outputDir}${where}`;
}

async function asPatch(workspaces: Workspaces, workspace: Workspace, since: string, outputDir: string) {
  const file = join(runFolder(outputDir, workspace.runId), RESULT_PATCH);
  const { changedFileCount } = await workspaces.resultPatch(workspace, { since, file });
  const bytes = statSync(file).size;
  const whole = bytes > MAX_INLINE_PATCH_BYTES ? null : readFileSync(file);
  const text = whole?.toString("utf8") ?? null;
  const isExact = text !== null && whole !== null && Buffer.from(text, "utf8").equals(whole);
  const patch = { artifact: RESULT_PATCH, bytes, files: changedFileCount, text: isExact ? text : null };
  return { branch: null, commit: null, patch };
}

function waitForStep(run: Run): Advice {
  return {
    typed: `Wait until it ends; \`daruma pause ${run.id}\` keeps anything new from starting.`,
    asked: "Wait until it ends; control_run with action pause keeps anything new from starting.",
  };
}

function resumeFirst(run: Run): Advice {
  return {
    typed: `No process is running this run. Let the step finish with \`daruma resume ${run.id}\`, then apply.`,
    asked: "No process is running this run. Let the step finish with control_run, action resume, then apply.",
  };
}

/** What it has begun does not end by itself: nobody runs it. */
async function isLeft({ store }: Context, run: Run): Promise<boolean> {
  if (!run.managed) return (await ownerOf(store, run.id)) === null;
  return (await unownedRuns(store, [await requireRun(store, run.id)])).has(run.id);
}

/** While steps change the files, what is taken would be nobody's result. */
function refuseWhileAtWork(run: Run, isLeft: boolean): void {
  const { running, rebuild, aside, commit } = run.workspace;
  const step = running ?? aside?.for ?? rebuild?.job ?? null;
  if (step !== null)
    throw new DarumaError("WORKSPACE_BUSY", `${step.step.definition.id} is running in the workspace`, {
      hint: isLeft ? resumeFirst(run) : waitForStep(run),
    });
  if (!isOver(run) && run.status !== "held" && run.status !== "paused")
    throw new DarumaError("WORKSPACE_BUSY", `run ${run.id} is ${run.status}`, {
      hint: {
        typed: `Wait until it is over, or pause it: \`daruma pause ${run.id}\`.`,
        asked: "Wait until it is over, or pause it: control_run with action pause.",
      },
    });
  if (commit === null)
    throw new DarumaError("WORKSPACE_NOT_FOUND", `run ${run.id} ended before it had a workspace`);
}
