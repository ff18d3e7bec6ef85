import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Advice, DarumaError } from "../../core/errors/errors.js";
import type { WorkspaceNote } from "../../core/model/events.js";
import type { CheckpointRow } from "../../core/model/rows.js";
import { isOver, jobById, type Run } from "../../core/model/run.js";
import { lastCommit, type PartialPatch } from "../../core/model/workspace-state.js";
import { loadRun } from "../../run/engine/load-run.js";
import { runFolder } from "../../run/worker/attempt-paths.js";
import type { Workspace, Workspaces } from "../../run/workspace/workspace.js";
import { openWorkspaces } from "../../run/workspace/workspaces.js";
import { ownerOf, unownedRuns } from "../../tell/lookup/run-owner.js";
import { type RunReference, requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import { iso } from "../../tell/run-report.js";
import { noteText } from "../../tell/words/heal-words.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { key, runReference, runStatus } from "../schemas.js";

export const getWorkspace = operation({
  name: "get_workspace",
  summary: "print the folder of a run's workspace, and its checkpoints",
  description:
    "Returns the git workspace of a run: its folder on the server's machine, the pinned commit, the step that is running there, the hard resets so far, and its checkpoints with their changed files and patches.",
  details:
    "`notes` lists what may be missing in it: empty submodules, files that git LFS keeps elsewhere. A patch is an artifact of the run; if `stored` is true, the store has it too, so that another server can replay it. A superseded checkpoint is kept, but a reset does not replay it. `partials` lists what incomplete attempts had left when another step was about to start: the patch, and how many files it changes.",
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

async function describeWorkspace({ store, outputDir }: Context, reference: RunReference) {
  const run = await loadWithWorkspace({ store }, reference);
  const here = await presentWorkspace(openWorkspaces({ outputDir }), run);
  const { workspace } = run;
  return {
    run_id: run.id,
    // The output folder may have been moved since the log was written.
    path: here?.path ?? workspace.path,
    repo: here?.repo ?? null,
    commit: workspace.commit,
    notes: workspace.notes.map(describeNote),
    at_work: workspace.running?.step.definition.id ?? null,
    resets: workspace.resets,
    checkpoints: (await store.readCheckpoints(run.id)).map(describeCheckpoint),
    partials: workspace.partials.map((partial) => describePartial(run, partial)),
  };
}

function describeNote(note: WorkspaceNote) {
  const paths = note.kind === "empty_submodules" ? note.paths : [];
  return { kind: note.kind, paths, message: noteText(note) };
}

function describeCheckpoint({ run_id: _run, commit_id, changed_files, at, ...row }: CheckpointRow) {
  return { ...row, commit: commit_id, changed_files, at: iso(at) };
}

function describePartial(run: Run, { job: id, attempt, patch, files, at }: PartialPatch) {
  const { step, scope } = jobById(run, id);
  return { job_id: id, step: step.definition.id, scope: scope.id, attempt, files, patch, at: iso(at) };
}

async function loadWithWorkspace({ store }: Pick<Context, "store">, reference: RunReference): Promise<Run> {
  const { run } = await loadRun(store, await resolveRun(store, reference));
  if (run.definition.workspace === null || run.definition.workspace === undefined)
    throw new DarumaError("WORKSPACE_NOT_FOUND", `the workflow of run ${run.id} has no workspace`, {
      hint: "Add `workspace:` to the file to give its runs one.",
    });
  return run;
}

/**
 * The log is ahead of the pointer for a moment; where the output folder was moved, only the pointer knows the way. Null:
 * it lies in another output folder, whatever is left of it here.
 */
async function presentWorkspace(workspaces: Workspaces, run: Run): Promise<Workspace | null> {
  const { path, home } = run.workspace;
  if ((await workspaces.home(run.id)) !== (home?.home ?? "")) return null;
  const told = path === null ? null : await workspaces.find(run.id, path);
  return told ?? workspaces.current(run.id);
}

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
  idempotent: true,
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
