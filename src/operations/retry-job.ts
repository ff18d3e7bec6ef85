import { randomUUID } from "node:crypto";
import { DarumaError } from "../core/errors.js";
import type { JobRow, JobStatus } from "../core/rows.js";
import type { Context } from "./context.js";
import { attemptId, requireJob } from "./job-report.js";
import { requireRun } from "./run-reference.js";

export interface RetryRequest {
  readonly job_id: number;
  readonly run_id: number;
  readonly max_retries: number;
}

/** As seed 002 has it: the answer of `POST /jobs/{id}/retry/{run_id}`. */
export interface RetriedJob {
  readonly id: number;
  readonly workflow_id: number;
  readonly name: string;
  readonly status: JobStatus;
  readonly attempt_id: number;
}

export async function retryJob(context: Context, request: RetryRequest): Promise<RetriedJob> {
  const { store } = context;
  const job = await requireJob(store, request.job_id);
  refuseRetry(job, request);
  const { workflow_id } = await requireRun(store, job.run_id);
  const reason = `retry asked for by ${context.principal.name}`;
  // Whoever comes second finds the job ready, and is refused by the core.
  await context.operate(job.run_id, { type: "step.retry", job: job.id, reason, key: randomUUID() });
  return {
    id: job.id,
    workflow_id,
    name: job.step,
    status: "ready",
    attempt_id: attemptId({ ...job, status: "ready" }),
  };
}

function refuseRetry(job: JobRow, { run_id, max_retries }: RetryRequest): void {
  if (job.run_id !== run_id)
    throw new DarumaError("WRONG_RUN", `job ${job.id} belongs to run ${job.run_id}, not to ${run_id}`);
  if (job.status === "pending_failed")
    throw new DarumaError("NOT_RETRYABLE", `job ${job.id} is held`, {
      hint: `Decide the hold: PUT /jobs/${job.id} {"status": "ready"}, or \`daruma resolve\`.`,
    });
  if (job.status === "completed" || job.status === "skipped")
    throw new DarumaError("NOT_RETRYABLE", `job ${job.id} is ${job.status}, not failed`, {
      hint: `To go back to it, ask control_run for resume_from_step with stepId ${job.id}: it and what depends on it run again.`,
    });
  if (job.status === "running")
    throw new DarumaError("NOT_RETRYABLE", `job ${job.id} is running; only its worker may end the attempt`, {
      hint: "Wait until the attempt has ended, or cancel the run.",
    });
  if (job.status !== "failed" && job.status !== "canceled")
    throw new DarumaError("NOT_RETRYABLE", `job ${job.id} is ${job.status}: it has not failed`, {
      hint: "Wait: it runs when its turn comes, or see explain_run for what it waits for.",
    });
  if (job.attempt_id >= max_retries)
    throw new DarumaError(
      "RETRIES_USED_UP",
      `job ${job.id} has had ${job.attempt_id} attempts; max_retries is ${max_retries}`,
    );
}
