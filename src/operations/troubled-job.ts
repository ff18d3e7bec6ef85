import type { Failure } from "../core/failure.js";
import type { JobRow } from "../core/rows.js";

/** Where a job stands that somebody should look at, and what it failed of. `failure` is the whole record of it. */
export function troubledJob(workflow: string, job: JobRow, failure: Failure | null) {
  const { error } = job;
  return {
    run_id: job.run_id,
    workflow,
    job_id: job.id,
    step: job.step,
    scope: job.scope,
    error: {
      code: error?.code ?? "UNKNOWN",
      message: error?.message ?? "failed",
      exit_code: failure?.exit_code ?? null,
    },
    class: failure?.class ?? null,
    attempts: job.attempt_id,
  };
}
