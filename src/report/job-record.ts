import { readRecord } from "../core/failure/error-record.js";
import type { ErrorRecord } from "../core/model/failure.js";
import { attemptAt, type JobRow, type JobStatus, type RunRow } from "../core/model/rows.js";
import { iso } from "../core/text/iso-time.js";

/** A job, the same wherever one is told. Times are ISO 8601. */
export interface JobRecord {
  readonly id: number;
  readonly run_id: number;
  readonly workflow: string;
  readonly workflow_id: number;
  readonly step: string;
  /** The step; the batch form calls it the name of the job. */
  readonly name: string;
  readonly scope: string;
  readonly status: JobStatus;
  /** How many it has had. */
  readonly attempts: number;
  /** The one that it is at, from 1: the last, or while it is ready the next. */
  readonly attempt_id: number;
  /** How often routing has entered it. */
  readonly visits: number;
  readonly handled: boolean;
  readonly dead_letter: boolean;
  /** It completed in another run, and was not run again. */
  readonly taken_over: boolean;
  readonly due_at: string | null;
  readonly error: ErrorRecord | null;
  readonly failure_handler_id: number | null;
}

export function jobRecord(run: RunRow, job: JobRow): JobRecord {
  return {
    id: job.id,
    run_id: run.id,
    workflow: run.workflow,
    workflow_id: run.workflow_id,
    step: job.step,
    name: job.step,
    scope: job.scope,
    status: job.status,
    attempts: job.attempt_id,
    attempt_id: attemptAt(job.status, job.attempt_id),
    visits: job.visit,
    handled: job.handled,
    dead_letter: job.dead_letter,
    taken_over: run.options.reused?.from != null && job.status === "completed" && job.attempt_id === 0,
    due_at: job.due_at === null ? null : iso(job.due_at),
    error: jobError(run, job),
    failure_handler_id: job.failure_handler_id,
  };
}

function jobError(run: RunRow, { id, step, attempt_id, error }: JobRow): ErrorRecord | null {
  if (error === null) return null;
  return readRecord(error, {
    step_id: step,
    job_id: id,
    attempt: attempt_id === 0 ? null : attempt_id,
    at: lastKnownTime(run),
  });
}

export function runErrorOf(run: RunRow): ErrorRecord | null {
  const nobody = { step_id: null, job_id: null, attempt: null };
  return run.error === null ? null : readRecord(run.error, { ...nobody, at: lastKnownTime(run) });
}

function lastKnownTime({ finished_at, started_at, created_at }: RunRow): number {
  return finished_at ?? started_at ?? created_at;
}
