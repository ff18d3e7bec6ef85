import { sentBackTo } from "./barrier.js";
import { isPresent } from "./handled.js";
import type { Route } from "./route.js";
import type { Job, Run } from "./run.js";
import type { Leftover } from "./workspace-state.js";

/** Whether something outside the run, such as a breaker, keeps this ready job from starting. */
type IsKeptBack = (job: Job) => boolean;

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

interface WhoseTree {
  readonly failed: Job;
  readonly mender: Job;
  /** The failure was elsewhere, and its step has not begun here yet. */
  readonly sentBack: boolean;
}

/** What must be set aside before the job's attempt can begin, and in which fresh workspace; null: in the run's own. */
interface InTheWay {
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

/**
 * The job that is working on a failure now: the failed job itself, the repair step that it waits for, or the step to
 * which an edge has taken the failure, and so on from there. It is at most one job, and the earlier ones wait for it.
 * Null if none is, or if it waits for a step that works for another failure. The failure then keeps nobody from the
 * tree: a job that waits for others must never hold what those wait for.
 */
function whoMends(job: Job): Job | null {
  return follow(job, new Set());
}

/** `seen`: failures that edges took to and fro. */
function follow(job: Job, seen: Set<string>): Job | null {
  if (job.barrier !== null) return sentBackTo(job.barrier);
  if (job.list?.role === "remediation") return followList(job, seen);
  switch (job.status) {
    case "ready":
    case "running":
    case "recovering":
      return job;
    case "waiting":
      return job.queue.waiting || job.parked !== null ? null : job;
    case "blocked":
      // Its `if` is being decided.
      return job.evaluation === null ? null : job;
    case "failed":
      return job.route === null ? null : followRoute(job.route, seen);
    default:
      return null;
  }
}

function followList(job: Job, seen: Set<string>): Job | null {
  const target = job.list?.jobs[job.list.next];
  if (target?.visitFor?.by !== job) return null;
  if (target.status !== "completed") return follow(target, seen);
  // A repair step is done only when what follows its success is.
  if (target.list !== null) return followList(target, seen);
  return target.followingUp ? target : null;
}

function followRoute(way: Route, seen: Set<string>): Job | null {
  const { target, visit } = way;
  const key = `${target.id} ${visit}`;
  if (seen.has(key)) return null;
  seen.add(key);
  if (target.barrier !== null) return sentBackTo(target.barrier);
  if (isPresent(way)) return follow(target, seen);
  const route = target.outcomes.get(visit)?.route ?? null;
  return route === null ? null : followRoute(route, seen);
}
