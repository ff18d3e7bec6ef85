import type { Barrier } from "./barrier.js";
import type { Checkpoint, KeptLeftover, MovedCheckpoint, WorkspaceHome, WorkspaceNote } from "./events.js";
import type { KnownBefore } from "./files-policy.js";
import type { GraphStep } from "./graph.js";
import type { Job, Run, Scope } from "./run.js";

/** The run's git workspace as the log tells it. The folders themselves are the shell's. */
export interface WorkspaceState {
  /** The pinned commit; null before the workspace stands. */
  commit: string | null;
  /** What the first checkpoint's changes are counted from: the pinned commit, or that with its submodules' files. */
  base: string | null;
  /** What a user could miss in it. */
  notes: readonly WorkspaceNote[];
  /** The folder in which steps work. */
  path: string | null;
  /** Which output folder that is in; null in the log of an older version. */
  home: WorkspaceHome | null;
  /** The last server that could not have it, while nobody has. */
  left: { readonly host: string; readonly message: string } | null;
  /** Sorted by their ordinals. */
  readonly checkpoints: RunCheckpoint[];
  /** Hard resets for want of progress, in this run. */
  resets: number;
  /** The step that is at work in it: never more than one. */
  running: Job | null;
  /** The fresh workspace that it was begun in; null: the run's own, unless the run has moved away from it since. */
  runningIn: number | null | "left_behind";
  /** Null if the tree has the checkpoints and nothing else that counts. */
  leftover: Leftover | null;
  /** Whose failures have the tree while somebody mends them: who failed there first, then who was to mend that. */
  mending: readonly MendedVisit[];
  /** What somebody left is being set aside, so that another step can enter. */
  aside: SettingAside | null;
  /** What was set aside, oldest first. */
  readonly partials: PartialPatch[];
  /** Jobs that are to go on in a fresh workspace, in the order in which that was decided. */
  readonly resetting: Set<Job>;
  rebuild: Rebuild | null;
  nextRebuild: number;
}

/** The visit of a job in which an attempt of it has failed in the tree. */
export interface MendedVisit {
  readonly job: Job;
  readonly visit: number;
  /** A failure elsewhere has sent the run back to the job: nothing that lies in the tree is its own. */
  readonly sentBack?: true;
}

/** What an attempt that did not complete has left in a tree since the last checkpoint. */
export interface Leftover {
  readonly job: Job;
  readonly attempt: number;
  /** It was lost or interrupted in the middle of its work, and not by its own fault. */
  readonly lost: boolean;
  /** What another step left is there too: the attempt was to mend that step's failure. */
  readonly amongOthers: boolean;
  /** The run has gone back over its step: nobody goes on in this, not even the step itself. */
  readonly takenBack?: true;
}

export interface SettingAside {
  readonly leftover: Leftover;
  /** The job that is to start. */
  readonly for: Job;
  /** The fresh workspace that it is in; null: the run's own. */
  readonly rebuild: number | null;
  tries: number;
}

export interface PartialPatch extends KeptLeftover {
  readonly at: number;
}

export interface RunCheckpoint extends Checkpoint {
  commit: string;
  readonly job: Job;
  readonly attempt: number;
  readonly visit: number;
  readonly at: number;
  /** A goto has taken its step back: kept, but no longer replayed. */
  superseded: boolean;
}

/** A fresh workspace beside the active one: being built, or built and tried out by its job. */
export interface Rebuild {
  readonly id: number;
  /** The job that continues in it. */
  readonly job: Job;
  readonly visit: number;
  /** The goto that takes the run back, where there is one; then it is nobody's to try out. */
  readonly barrier: number | null;
  tries: number;
  built: boolean;
  path: string | null;
  leftover: Leftover | null;
  /** What its job knew of its files before it began here. */
  before: KnownBefore | null;
  /** The checkpoints that have another commit in it. */
  moved: readonly MovedCheckpoint[];
}

export function newWorkspaceState(): WorkspaceState {
  return {
    commit: null,
    base: null,
    notes: [],
    path: null,
    home: null,
    left: null,
    checkpoints: [],
    resets: 0,
    running: null,
    runningIn: null,
    leftover: null,
    mending: [],
    aside: null,
    partials: [],
    resetting: new Set(),
    rebuild: null,
    nextRebuild: 1,
  };
}

/** What the next checkpoint is called. It stands while a step is at work, since no other one is. */
export function nextOrdinal(run: Run): number {
  return (run.workspace.checkpoints.at(-1)?.ordinal ?? 0) + 1;
}

/** What the next checkpoint's changes are counted from. */
export function lastCommit({ workspace }: Run): string | null {
  return workspace.checkpoints.findLast(({ superseded }) => !superseded)?.commit ?? workspace.base;
}

/** The folder of the job's next attempt: the workspace that was rebuilt for it, or the active one. */
export function workspacePathFor(run: Run, job: Job): string | null {
  if (!job.step.definition.usesWorkspace) return null;
  const { rebuild, path } = run.workspace;
  return rebuild?.job === job && rebuild.built ? rebuild.path : path;
}

/** Nobody works in the workspace or clears it up, and none is being built or tried out. */
export function isWorkspaceFree({ workspace }: Run): boolean {
  return workspace.running === null && workspace.rebuild === null && workspace.aside === null;
}

/** What the barrier takes back has left something in the workspace, and that is not undone yet. */
export function awaitsRestore(barrier: Barrier): boolean {
  if (barrier.restored !== null || barrier.files === "keep") return false;
  for (const { step, attempt } of barrier.members)
    if (step.definition.usesWorkspace && attempt > 0) return true;
  return false;
}

/** The checkpoints that make up the workspace, where there is a barrier those that it leaves standing. */
export function checkpointsToReplay(run: Run, barrier: Barrier | null): number[] {
  const cut = new Set(barrier === null ? [] : checkpointsToCut(run, barrier));
  return checkpointsThatCount(run)
    .filter((checkpoint) => !cut.has(checkpoint))
    .map(({ ordinal }) => ordinal);
}

/**
 * What a barrier that takes files back cuts off: the checkpoints of its members and, from the target's first one on,
 * those of steps that something else had routed to, which stand on it. What an independent step made stays: its job
 * is still completed.
 */
export function checkpointsToCut(run: Run, barrier: Barrier): RunCheckpoint[] {
  if (barrier.files === "keep") return [];
  const counting = checkpointsThatCount(run);
  const firstOf = new Map<Job, number>();
  for (const { job, ordinal } of counting)
    if (barrier.targets.has(job) && !firstOf.has(job)) firstOf.set(job, ordinal);
  const standsOn = ({ job, ordinal }: RunCheckpoint): boolean =>
    isRoutedTo(job.step) &&
    [...firstOf].some(([target, first]) => ordinal > first && isWithin(job.scope, target.scope));
  return counting.filter((checkpoint) => barrier.members.has(checkpoint.job) || standsOn(checkpoint));
}

function checkpointsThatCount({ workspace }: Run): RunCheckpoint[] {
  return workspace.checkpoints.filter(({ superseded }) => !superseded);
}

/** It runs only where a run list or a transition leads, or after a step of that kind. */
function isRoutedTo({ definition, groups }: GraphStep): boolean {
  return definition.start === "routed" || groups.flat().some(isRoutedTo);
}

function isWithin(scope: Scope, outer: Scope): boolean {
  for (let at: Scope | null = scope; at !== null; at = at.parent) if (at === outer) return true;
  return false;
}
