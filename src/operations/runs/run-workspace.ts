import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { WorkspaceNote } from "../../core/model/events.js";
import type { CheckpointRow } from "../../core/model/rows.js";
import { isOver, jobById, type Run } from "../../core/model/run.js";
import { lastCommit, type PartialPatch } from "../../core/model/workspace-state.js";
import { loadRun } from "../../engine/load-run.js";
import { interruptedRuns, ownerOf } from "../../report/lookup/run-owner.js";
import { type RunReference, requireRun, resolveRun } from "../../report/lookup/run-reference.js";
import { iso } from "../../report/run-report.js";
import { noteText } from "../../report/workspace-note-text.js";
import { runFolder } from "../../worker/attempt-paths.js";
import type { Workspace } from "../../workspace/workspace.js";
import { openWorkspaces, type Workspaces } from "../../workspace/workspaces.js";
import type { Context } from "../context.js";

/** Below the run's folder, so that it can be read piece by piece as any artifact. */
const RESULT_PATCH = "result.patch";
/** What an answer carries itself. */
const MAX_INLINE_PATCH_BYTES = 1_024 * 1_024;

export async function describeWorkspace({ store, outputDir }: Context, reference: RunReference) {
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
  const paths = note.kind === "empty_submodules" ? [...note.paths] : [];
  return { kind: note.kind, paths, message: noteText(note) };
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

function describeCheckpoint({ run_id: _run, commit_id, changed_files, at, ...row }: CheckpointRow) {
  return { ...row, commit: commit_id, changed_files: [...changed_files], at: iso(at) };
}

function describePartial(run: Run, { job: id, attempt, patch, files, at }: PartialPatch) {
  const { step, scope } = jobById(run, id);
  return { job_id: id, step: step.definition.id, scope: scope.id, attempt, files, patch, at: iso(at) };
}

export interface ApplyRequest {
  readonly run_id: RunReference;
  readonly branch?: string | undefined;
  readonly message?: string | undefined;
}

/** What the run has made of the pinned commit: one patch, or one commit on a new branch of the user's repository. */
export async function applyRun(context: Context, { run_id, branch, message }: ApplyRequest) {
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
  return `the workspace of run ${id} is not below ${outputDir}${where}`;
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

async function loadWithWorkspace({ store }: Pick<Context, "store">, reference: RunReference): Promise<Run> {
  const { run } = await loadRun(store, await resolveRun(store, reference));
  if (run.definition.workspace === null || run.definition.workspace === undefined)
    throw new DarumaError("WORKSPACE_NOT_FOUND", `the workflow of run ${run.id} has no workspace`, {
      hint: "A file gives its runs one with `workspace:`.",
    });
  return run;
}

const WAIT_FOR_STEP = {
  typed: "Wait until it has ended; `daruma pause RUN` lets nothing new begin.",
  asked: "Wait until it has ended; control_run with action pause lets nothing new begin.",
};
const RESUME_FIRST = {
  typed: "Nobody runs this run: `daruma resume RUN` lets the step end; then apply.",
  asked: "Nobody runs this run: control_run with action resume lets the step end; then apply.",
};

/** What it has begun does not end by itself: nobody runs it. */
async function isLeft({ store }: Context, run: Run): Promise<boolean> {
  if (!run.managed) return (await ownerOf(store, run.id)) === null;
  return (await interruptedRuns(store, [await requireRun(store, run.id)])).has(run.id);
}

/** While steps change the files, what is taken would be nobody's result. */
function refuseWhileAtWork(run: Run, isLeft: boolean): void {
  const { running, rebuild, aside, commit } = run.workspace;
  const step = running ?? aside?.for ?? rebuild?.job ?? null;
  if (step !== null)
    throw new DarumaError("WORKSPACE_BUSY", `${step.step.definition.id} is at work in the workspace`, {
      hint: isLeft ? RESUME_FIRST : WAIT_FOR_STEP,
    });
  if (!isOver(run) && run.status !== "held" && run.status !== "paused")
    throw new DarumaError("WORKSPACE_BUSY", `run ${run.id} is ${run.status}`, {
      hint: {
        typed: "Wait until it is over, or pause it: `daruma pause RUN`.",
        asked: "Wait until it is over, or pause it: control_run with action pause.",
      },
    });
  if (commit === null)
    throw new DarumaError("WORKSPACE_NOT_FOUND", `run ${run.id} ended before it had a workspace`);
}
