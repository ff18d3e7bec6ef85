import type { RungName } from "../model/events.js";
import type { Job } from "../model/run.js";

/** The rungs that begin another attempt of the job whose failure they answer. A restart costs nothing. */
const AGAIN: ReadonlySet<RungName> = new Set(["rule", "retry", "reset", "remediate", "goto", "requeue"]);

/** An operator's retry with `max_retries` bounds the attempts that follow it. */
export function isAtBound(job: Job): boolean {
  return job.allowed !== null && job.charged >= job.allowed;
}

/** Why a rung that would begin another attempt does not; null: nothing keeps it from doing so. */
export function boundReason(job: Job, rung: RungName): string | null {
  if (!AGAIN.has(rung) || !isAtBound(job)) return null;
  return `no attempts left of those that the operator's retry allowed (${job.allowed})`;
}
