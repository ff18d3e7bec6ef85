import { isInRecovery, type Run } from "./run.js";

/** The run needs no engine until somebody decides something: it is held, or paused with nothing under way. */
export function isResting(run: Run): boolean {
  if (run.status === "held") return run.running.size === 0 && run.ready.size === 0;
  if (run.paused === null || run.cancelRequested !== null || run.running.size > 0) return false;
  const { rebuild, aside } = run.workspace;
  if ((rebuild !== null && !rebuild.built) || aside !== null) return false;
  return !run.jobs.some((job) => job.evaluation !== null || isInRecovery(job));
}
