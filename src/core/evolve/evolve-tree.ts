import { beginRound } from "../failure/rounds.js";
import type { Barrier } from "../model/barrier.js";
import type { EventOf, KeptLeftover } from "../model/events.js";
import { traitsOf } from "../model/failure.js";
import type { LeftBehind } from "../model/files-policy.js";
import { type Job, jobById, type Run } from "../model/run.js";
import type { Leftover, MendedVisit, RunCheckpoint, WorkspaceState } from "../model/workspace-state.js";
import { treeKeeper } from "../model/workspace-turn.js";

/** More than a prompt has room for. */
const MAX_NAMED_FILES = 50;

/** An attempt begins in the tree. A failure that it does not mend has let go of it. */
export function enterTree(run: Run, job: Job): void {
  const { workspace } = run;
  if (!job.step.definition.usesWorkspace) return;
  if (treeKeeper(run) !== job) workspace.mending = [];
  const { rebuild } = workspace;
  workspace.runningIn = rebuild?.built && rebuild.job === job ? rebuild.id : null;
}

/** A failure of the job leads to others, which are to mend it. */
export function noteRound(run: Run, job: Job, menders: readonly number[]): void {
  job.round = beginRound(run, job, menders);
}

/** An attempt ends without having completed: the tree is of its failure, after the one that it was to mend. */
export function leaveInTree(run: Run, job: Job, lost: boolean): void {
  const { workspace } = run;
  if (workspace.running !== job) return;
  const others = othersIn(workspace, job);
  const before = treeKeeper(run) === job ? others.filter(({ sentBack }) => !sentBack) : [];
  // While it ran, the run may have gone back to other steps, which come after it.
  const after = others.filter(({ sentBack }) => sentBack);
  workspace.mending = [...before, { job, visit: job.visit }, ...after];
  const found = leftoverIn(workspace, workspace.runningIn);
  const amongOthers = found !== null && (found.job !== job || found.amongOthers);
  setLeftover(run, workspace.runningIn, { job, attempt: job.attempt, lost, amongOthers });
}

/** The checkpoint has all that is in the tree, what the attempt found there too; some leave none. */
export function completeInTree(run: Run, job: Job): void {
  const { workspace } = run;
  if (workspace.running !== job) return;
  workspace.mending = othersIn(workspace, job);
  setLeftover(run, workspace.runningIn, job.step.atEnd === null ? null : changesOf(job));
}

/** Undo and finally steps leave no checkpoint: what they change is no part of what a reopened run goes on with. */
function changesOf(job: Job): Leftover {
  return { job, attempt: job.attempt, lost: false, amongOthers: false };
}

/** An operator begins the job anew: it finds what it left, or what was left for it, unless somebody is still at that. */
export function findAgain(run: Run, job: Job): void {
  const { workspace } = run;
  const isIts = workspace.leftover?.job === job || workspace.mending.some((failed) => failed.job === job);
  if (isIts && treeKeeper(run) === null) workspace.mending = [{ job, visit: job.visit }];
}

/** What those who run again left is of no use to them, nor what the failure left that has opened the barrier. */
export function takeBackLeftover(run: Run, { members, targets }: Barrier): void {
  const { leftover } = run.workspace;
  if (leftover === null) return;
  const keeper = treeKeeper(run);
  if (members.has(leftover.job) || (keeper !== null && targets.has(keeper)))
    run.workspace.leftover = { ...leftover, takenBack: true };
}

/** A failure sends the run back: until the target begins, nobody else comes between. */
export function keepTreeFor({ workspace }: Run, barrier: Barrier): void {
  for (const [job, { byFailure }] of barrier.targets)
    if (byFailure)
      workspace.mending = [...othersIn(workspace, job), { job, visit: job.visit, sentBack: true }];
}

/** The barrier has closed: its targets begin a visit, and find the files kept or taken back. */
export function goBackInTree(run: Run, barrier: Barrier, cutOff: readonly RunCheckpoint[]): void {
  const { workspace } = run;
  keepTreeFor(run, barrier);
  takeBackLeftover(run, barrier);
  if (barrier.restored?.ok === false) return;
  const kept = barrier.files === "keep";
  for (const job of barrier.targets.keys()) {
    if (!job.step.definition.usesWorkspace) continue;
    const own = kept ? workspace.checkpoints.filter((each) => each.job === job && !each.superseded) : cutOff;
    const patch = barrier.restored?.previous ?? null;
    if (!kept && patch === null && own.length === 0) continue;
    const state = kept ? "kept" : "taken_back";
    job.earlierFiles = { state, files: namesIn(own), attempts: [], patch, aside: null };
  }
}

/** What is in the tree once the attempt has failed; a lost one tells nothing of it. */
export function leftBehindBy(
  job: Job,
  { attempt, error, patch }: EventOf<"attempt.failed">,
): LeftBehind | null {
  if (error.diff_hash === null) return traitsOf(error.class).lost ? job.leftBehind : null;
  const attempts = [...(job.leftBehind?.attempts ?? []), attempt];
  return { attempts, files: error.changed_files, patch: patch ?? null };
}

/** The job goes on in a fresh workspace: what it had left is not there. */
export function beginAfresh(job: Job, partial: KeptLeftover | null): void {
  const { attempts, files, patch } = job.leftBehind ?? { attempts: [], files: [], patch: null };
  const own = partial?.job === job.id ? partial : null;
  job.earlierFiles = {
    state: "fresh",
    files,
    attempts: own === null || attempts.includes(own.attempt) ? attempts : [...attempts, own.attempt],
    patch: own?.patch ?? patch,
    aside: null,
  };
  job.leftBehind = null;
}

/** What was kept of files that are not there any more lies in the other output folder. */
export function leavePatchesBehind(job: Job): void {
  if (job.earlierFiles !== null) job.earlierFiles = { ...job.earlierFiles, patch: null, aside: null };
  if (job.leftBehind !== null) job.leftBehind = { ...job.leftBehind, patch: null };
}

function namesIn(checkpoints: readonly RunCheckpoint[]): string[] {
  return [...new Set(checkpoints.flatMap(({ changed_files: names }) => names))].slice(0, MAX_NAMED_FILES);
}

function othersIn({ mending }: WorkspaceState, job: Job): MendedVisit[] {
  return mending.filter((failed) => failed.job !== job);
}

export function startSetAside(run: Run, event: EventOf<"set_aside.started">): void {
  const { workspace } = run;
  if (workspace.aside !== null) {
    workspace.aside.tries = event.try;
    return;
  }
  const left = leftoverIn(workspace, event.rebuild);
  workspace.aside = {
    leftover: left ?? {
      job: jobById(run, event.job),
      attempt: event.attempt,
      lost: false,
      amongOthers: false,
    },
    for: jobById(run, event.for),
    rebuild: event.rebuild,
    tries: event.try,
  };
}

export function finishSetAside(run: Run, event: EventOf<"set_aside.finished">, at: number): void {
  const { workspace } = run;
  const rebuild = workspace.aside?.rebuild ?? null;
  workspace.aside = null;
  if (!event.ok) return;
  setLeftover(run, rebuild, null);
  const { job, attempt, patch, files } = event;
  if (patch === null) return;
  workspace.partials.push({ job, attempt, patch, files, at });
  const next = jobById(run, event.for);
  const { id: step } = jobById(run, job).step.definition;
  if (next.earlierFiles !== null)
    next.earlierFiles = { ...next.earlierFiles, aside: { step, attempt, patch } };
}

/** In the run's own tree (null), or in the fresh workspace of this id. */
function leftoverIn(
  { leftover, rebuild }: WorkspaceState,
  where: WorkspaceState["runningIn"],
): Leftover | null {
  return where === null ? leftover : rebuild?.id === where ? rebuild.leftover : null;
}

/** A fresh workspace that was given up meanwhile has taken it along, and so has one that was left behind. */
function setLeftover(
  { workspace }: Run,
  where: WorkspaceState["runningIn"],
  leftover: Leftover | null,
): void {
  if (where === null) workspace.leftover = leftover;
  else if (workspace.rebuild?.id === where) workspace.rebuild.leftover = leftover;
}
