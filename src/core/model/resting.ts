import { awaitsCall, programOf } from "./flow.js";
import { reducersWaiting, waitingFor } from "./gate.js";
import { isInRecovery, isOver, type Job, type Run } from "./run.js";

/** The run has not begun: it waits for a place in its group. */
export function isQueued(run: Run): boolean {
  return run.concurrency !== null && run.startedAt === null && !isOver(run) && run.cancelRequested === null;
}

/** Somebody must have it. A run of servers that waits for its place is taken by one of them together with the place. */
export function needsEngine(run: Run): boolean {
  return !isOver(run) && !isResting(run) && !(run.managed && isQueued(run));
}

/** The run needs no engine until somebody decides something: it is held, or paused with nothing under way. */
export function isResting(run: Run): boolean {
  if (run.status === "held") return run.running.size === 0 && run.ready.size === 0;
  return isPausedAfter(run, []);
}

/**
 * The run waits for nothing but its child runs, and each of those rests: only people's decisions about them go on with it.
 * `restsBelow` says it of a job that is running, or was interrupted and is to start again.
 */
export function isRestingBelow(run: Run, restsBelow: (job: Job) => boolean): boolean {
  if (run.status !== "running" && run.status !== "paused") return false;
  const below = [...run.running, ...(run.paused === null ? run.ready : [])];
  if (below.length === 0 || !below.every(restsBelow)) return false;
  return run.paused === null ? isAtRest(run, below) : isPausedAfter(run, below);
}

/** Nothing is at work but these jobs, and run lists that cannot go on before they, a hold or a routed failure are settled. */
export function isAtRest(run: Run, apartFrom: readonly Job[] = []): boolean {
  if (run.barriers.size > 0 || run.ready.size + run.running.size > apartFrom.length) return false;
  if (run.workspace.aside !== null) return false;
  const others = run.busy - apartFrom.length;
  if (others === 0) return true;
  return (
    others === listsBehind(run, [...run.held, ...run.routed, ...repairsNotCalled(run), ...apartFrom]).size
  );
}

/** Functions that are to repair a step and that the program of the run has to call first. */
function repairsNotCalled(run: Run): Job[] {
  if (programOf(run) === null) return [];
  return run.jobs.filter((job) => job.visitFor !== null && job.status === "blocked" && awaitsCall(job));
}

function isPausedAfter(run: Run, apartFrom: readonly Job[]): boolean {
  if (run.paused === null || isBeingCanceled(run) || run.running.size > apartFrom.length) return false;
  const { rebuild, aside } = run.workspace;
  if ((rebuild !== null && !rebuild.built) || aside !== null) return false;
  return !run.jobs.some((job) => job.evaluation !== null || isInRecovery(job));
}

/** The jobs whose run lists wait for these jobs, or for what depends on them. */
function listsBehind(run: Run, jobs: readonly Job[]): Set<Job> {
  const lists = new Set<Job>();
  const behind = new Set(jobs);
  for (const job of behind) {
    for (const { by } of job.visitFor === null ? job.requests : [job.visitFor, ...job.requests]) {
      lists.add(by);
      behind.add(by);
    }
    const dependents = [...waitingFor(job)].map((waiting) => waiting.job);
    for (const dependent of job.step.definition.forEach
      ? [...dependents, ...reducersWaiting(run, job)]
      : dependents) {
      if (dependent.status === "blocked") behind.add(dependent);
    }
  }
  return lists;
}

/** A pause does not hold up a cancel. What follows it, to undo and to finish, can be paused. */
function isBeingCanceled({ cancelRequested, ending }: Run): boolean {
  return cancelRequested !== null && ending === null;
}
