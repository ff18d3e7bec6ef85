import { whoMends } from "./mending.js";
import type { Job, Run } from "./run.js";
import type { Leftover } from "./workspace-state.js";

/** Whether something outside the run, such as a breaker, keeps this ready job from starting. */
export type IsKeptBack = (job: Job) => boolean;

const nobody: IsKeptBack = () => false;

/** Whether an attempt of a ready job may begin. Of the steps of the workspace only the one whose turn it is may. */
export function mayStart(run: Run, job: Job, isKeptBack = nobody): boolean {
  return job.status === "ready" && run.paused === null && hasTurn(run, job, isKeptBack);
}

/** Nothing in the run's workspace keeps the job from starting, were it ready. */
export function hasTurn(run: Run, job: Job, isKeptBack = nobody): boolean {
  if (!job.step.definition.usesWorkspace) return true;
  const { running, rebuild, aside } = run.workspace;
  if (running !== null || aside !== null) return false;
  if (rebuild === null) return hasTree(run, job, isKeptBack);
  return rebuild.built && (rebuild.job === job || isWaiting(rebuild.job, isKeptBack));
}

/** Nobody's failure keeps the job from the tree. */
export function hasTree(run: Run, job: Job, isKeptBack = nobody): boolean {
  const keeper = treeKeeper(run);
  return keeper === null || keeper === job || isWaiting(keeper, isKeptBack);
}

function isWaiting(job: Job, isKeptBack: IsKeptBack): boolean {
  return job.status === "ready" && isKeptBack(job);
}

/** The only job that may work in the tree, because it mends the failure that the tree belongs to; null: any may. */
export function treeKeeper(run: Run): Job | null {
  return whoseTree(run)?.mender ?? null;
}

/**
 * The failure that the tree belongs to, and who is working on it. If the first failure is given up or restarted, the
 * tree still belongs to a step that was to repair it, has failed too, and is being repaired itself.
 */
export function whoseTree({ workspace }: Run): WhoseTree | null {
  for (const { job, visit, sentBack = false } of workspace.mending) {
    const mender = job.visit === visit ? whoMends(job) : null;
    if (mender !== null) return { failed: job, mender, sentBack };
  }
  return null;
}

export interface WhoseTree {
  readonly failed: Job;
  readonly mender: Job;
  /** The failure was elsewhere, and its step has not begun here yet. */
  readonly sentBack: boolean;
}

/** What must be set aside before the job's attempt can begin, and in which fresh workspace; null: in the run's own. */
export interface InTheWay {
  readonly leftover: Leftover;
  readonly rebuild: number | null;
}

/** A job finds what it left itself, or what the failure left that it mends; of a lost attempt of its own it finds nothing. */
export function leftoverInTheWay(run: Run, job: Job): InTheWay | null {
  // Undo and finally steps see the tree as it is.
  if (job.step.atEnd !== null) return null;
  const { leftover, rebuild } = run.workspace;
  const fresh = rebuild?.built && rebuild.job === job ? rebuild : null;
  const whose = whoseTree(run);
  const mends = whose?.mender === job && !whose.sentBack;
  const isOthers = leftover !== null && ((leftover.job !== job && !mends) || leftover.takenBack === true);
  if (isOthers || (fresh === null && isHalfDone(run, leftover)))
    return leftover === null ? null : { leftover, rebuild: null };
  if (fresh === null || fresh.leftover === null || !isHalfDone(run, fresh.leftover)) return null;
  return { leftover: fresh.leftover, rebuild: fresh.id };
}

/** A lost repair goes on in what it left: with it would go what it is to repair. */
export function isHalfDone(run: Run, leftover: Leftover | null): boolean {
  return leftover?.lost === true && !leftover.amongOthers && run.definition.workspace?.onLost !== "keep";
}
