import { beginRound } from "../failure/rounds.js";
import type { EventOf } from "../model/events.js";
import { type Job, jobById, type Run } from "../model/run.js";
import type { Leftover, MendedVisit, WorkspaceState } from "../model/workspace-state.js";
import { treeKeeper } from "../model/workspace-turn.js";

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
  const before = treeKeeper(run) === job ? othersIn(workspace, job) : [];
  workspace.mending = [...before, { job, visit: job.visit }];
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
  if (patch !== null) workspace.partials.push({ job, attempt, patch, files, at });
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
