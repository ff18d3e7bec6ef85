import type { Failure } from "./failure.js";
import type { Job } from "./run.js";

/**
 * What a job's conditions and expressions see as `state._last_error`. Those of a failure are asked only once it has
 * passed retry, so that it is the last error by then, whatever the scope had before.
 */
export function lastErrorSeenBy(job: Job): Failure | null {
  return job.status === "recovering" && job.error !== null ? job.error : job.scope.lastError;
}
