import type { Job } from "../model/run.js";

/** An operator's retry with `max_retries` bounds the attempts that follow it. */
export function isAtBound(job: Job): boolean {
  return job.allowed !== null && job.charged >= job.allowed;
}

/** Why a rung that would begin another attempt does not; null: nothing keeps it from doing so. */
export function boundReason(job: Job): string | null {
  if (!isAtBound(job)) return null;
  return `no attempts left of those that the operator's retry allowed (${job.allowed})`;
}
