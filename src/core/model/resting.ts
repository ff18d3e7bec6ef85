import { isInRecovery, isOver, type Run } from "./run.js";

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
  if (run.paused === null || isBeingCanceled(run) || run.running.size > 0) return false;
  const { rebuild, aside } = run.workspace;
  if ((rebuild !== null && !rebuild.built) || aside !== null) return false;
  return !run.jobs.some((job) => job.evaluation !== null || isInRecovery(job));
}

/** A pause does not hold up a cancel. What follows it, to undo and to finish, can be paused. */
function isBeingCanceled({ cancelRequested, ending }: Run): boolean {
  return cancelRequested !== null && ending === null;
}
