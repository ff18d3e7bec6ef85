import { beginRound } from "../failure/no-progress.js";
import type { Barrier } from "../model/barrier.js";
import type { EventOf } from "../model/events.js";
import type { LeftBehind } from "../model/files-policy.js";
import { type Job, jobById, type Run } from "../model/run.js";
import type { Leftover, MendedVisit, RunCheckpoint, WorkspaceState } from "../model/workspace-state.js";
import { isHalfDone, treeKeeper, whoseTree } from "../model/workspace-turn.js";
import { goOnUnfinished, ownersOf, takeAway, tellSetAside, tellWayBack } from "./earlier-files.js";

/** An attempt begins in the tree. A failure that it does not mend has let go of it. */
export function enterTree(run: Run, job: Job): void {
  const { workspace } = run;
  if (!job.step.definition.usesWorkspace) return;
  const whose = whoseTree(run);
  if (whose?.mender !== job) workspace.mending = [];
  // A step that was sent back mends nothing that was left here: it begins in a clean tree.
  else if (whose.sentBack) workspace.mending = workspace.mending.filter(({ sentBack }) => sentBack);
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
  const leftover = { job, attempt: job.attempt, lost, amongOthers };
  setLeftover(run, workspace.runningIn, leftover);
  if (!lost) return;
  // Another server has rebuilt the workspace meanwhile.
  if (workspace.runningIn === "left_behind") takeAway([job], leftover, { state: "fresh", patch: null });
  else if (!isHalfDone(run, leftover)) goOnUnfinished(job);
}

/** The checkpoint has all that is in the tree, what the attempt found there too; some leave none. */
export function completeInTree(run: Run, job: Job): void {
  const { workspace } = run;
  if (workspace.running !== job) return;
  // In the run's own tree, it also has what others had left.
  if (workspace.runningIn === null) for (const failed of workspace.mending) failed.job.leftBehind = null;
  job.leftBehind = null;
  workspace.mending = othersIn(workspace, job);
  setLeftover(run, workspace.runningIn, job.step.atEnd === null ? null : changesOf(job));
}

/** Undo and finally steps leave no checkpoint: what they change is no part of what a reopened run goes on with. */
function changesOf(job: Job): Leftover {
  return { job, attempt: job.attempt, lost: false, amongOthers: false };
}

/**
 * The operator restarts the job. It finds what it left, or what was left for it, unless another job is still working on
 * that.
 */
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

/** The barrier has closed: its targets begin a visit, and find the files kept or taken back. `left`: by them, before. */
export function goBackInTree(
  run: Run,
  barrier: Barrier,
  cutOff: readonly RunCheckpoint[],
  left: ReadonlyMap<Job, LeftBehind>,
): void {
  keepTreeFor(run, barrier);
  takeBackLeftover(run, barrier);
  if (barrier.restored?.ok === false) return;
  for (const job of barrier.targets.keys())
    if (job.step.definition.usesWorkspace) tellWayBack(run, job, barrier, cutOff, left.get(job)!);
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
  const { leftover, rebuild } = workspace.aside ?? {};
  workspace.aside = null;
  if (!event.ok) return;
  setLeftover(run, rebuild ?? null, null);
  const { job, attempt, patch, files } = event;
  if (patch === null || leftover === undefined) return;
  workspace.partials.push({ job, attempt, patch, files, at });
  const owners = rebuild == null ? ownersOf(run, leftover) : [leftover.job];
  takeAway(owners, leftover, { state: leftover.lost ? "lost" : "set_back", patch });
  const next = jobById(run, event.for);
  if (leftover.job !== next) tellSetAside(next, leftover.job.step.definition.id, { attempt, patch });
}

/** The leftover in the run's own tree (null), or in the rebuilt workspace with this id. */
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
