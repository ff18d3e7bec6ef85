import { isInRecovery, type Job, type Run } from "../core/run.js";

/** How many of a worker's places an attempt takes. */
export function slotsOf(job: Job): number {
  // A child run's own steps take places; its parent waiting with one could leave none for them.
  if (job.step.definition.action.type === "workflow") return 0;
  return job.step.definition.resources?.cpus ?? 1;
}

/** The run needs no engine until somebody decides something: it is held, or paused with nothing under way. */
export function isResting(run: Run): boolean {
  if (run.status === "held") return run.running.size === 0 && run.ready.size === 0;
  if (run.paused === null || run.cancelRequested !== null || run.running.size > 0) return false;
  const { rebuild } = run.workspace;
  if (rebuild !== null && !rebuild.built) return false;
  return !run.jobs.some((job) => job.evaluation !== null || isInRecovery(job));
}

/** Marks of the processes that an earlier owner may have left behind. */
export function tokensOf(run: Run): string[] {
  const tokens = [...run.running].map((job) => job.attemptToken ?? "");
  for (const job of run.jobs) if (isInRecovery(job)) tokens.push(job.recovery!.token);
  return tokens;
}
