import { randomUUID } from "node:crypto";
import type { JobStatus } from "../../core/model/rows.js";
import { findJob, type JobRequest } from "../../report/lookup/choose-job.js";
import { requireRun } from "../../report/lookup/run-reference.js";
import type { Context } from "../context.js";
import { redacted } from "../operator-words.js";
import { putCommand } from "../put-command.js";

export interface RetryRequest extends JobRequest {
  readonly max_retries: number;
  readonly reason: string;
  readonly key?: string | undefined;
}

/** As seed 002 has it: the answer of `POST /jobs/{id}/retry/{run_id}`. */
export interface RetriedJob {
  readonly id: number;
  readonly workflow_id: number;
  readonly name: string;
  readonly status: JobStatus;
  readonly attempt_id: number;
}

/** Status and attempts are looked at where the retry is decided: of many who ask at once, one is not refused. */
export async function retryJob(context: Context, request: RetryRequest): Promise<RetriedJob> {
  const { store } = context;
  const job = await findJob(store, request);
  const { id, run_id, step } = job;
  const { workflow_id } = await requireRun(store, run_id);
  const { changed } = await putCommand(context, run_id, {
    type: "step.retry",
    job: id,
    maxAttempts: request.max_retries,
    reason: await redacted(store, run_id, request.reason),
    key: request.key ?? randomUUID(),
  });
  const { to: status, attempt_id } = changed.find(({ job_id }) => job_id === id) ?? {
    ...job,
    to: job.status,
  };
  return { id, workflow_id, name: step, status, attempt_id };
}
