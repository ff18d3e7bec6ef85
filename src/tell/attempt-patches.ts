import type { LoggedEvent } from "../core/model/events.js";

/** What attempts of a job left in the workspace, as names of artifacts; the newest patch of each. */
export function patchByAttempt(log: readonly LoggedEvent[], jobId: number): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const { event } of log) {
    if (event.type === "attempt.succeeded" && event.job === jobId && event.checkpoint !== null)
      found.set(event.attempt, event.checkpoint.patch);
    if (event.type === "attempt.failed" && event.job === jobId && event.patch != null)
      found.set(event.attempt, event.patch);
    if (event.type === "set_aside.finished" && event.job === jobId && event.patch !== null)
      found.set(event.attempt, event.patch);
    if (event.type === "rebuild.finished" && event.partial?.job === jobId)
      found.set(event.partial.attempt, event.partial.patch);
  }
  return found;
}
