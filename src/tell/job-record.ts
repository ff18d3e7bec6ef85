import { ANY_FAILURE } from "../core/model/failure.js";
import { attemptAt, JOB_STATUSES, type JobRow, type JobStatus, type RunRow } from "../core/model/rows.js";
import { iso } from "../core/text/iso-time.js";
import { flag, noted, nullable, number, type OfFields, text, word } from "../core/text/shape.js";

/** A job in the form that all interfaces use. Times are ISO 8601. */
export const JOB_RECORD = {
  id: number,
  run_id: number,
  workflow: text,
  workflow_id: number,
  step: text,
  name: noted(text, "The step."),
  family: noted(
    nullable(text),
    "The name of its job in the batch form, as the file writes it, where that makes several steps.",
  ),
  scope: text,
  status: word<JobStatus>(JOB_STATUSES),
  attempts: noted(number, "The number of attempts so far."),
  attempt_id: noted(
    number,
    "The current attempt, from 1: the last one, or the next one while the job is ready.",
  ),
  visits: number,
  handled: flag,
  stood_in_by: noted(nullable(text), "The step whose output its dependents have had in place of its own."),
  dead_letter: flag,
  taken_over: noted(flag, "It completed in another run and did not run again."),
  due_at: nullable(text),
  error: noted(nullable(ANY_FAILURE), "Why the job, or its last attempt, failed."),
  failure_handler_id: nullable(number),
} as const;
export type JobRecord = OfFields<typeof JOB_RECORD>;

export function jobRecord(run: RunRow, job: JobRow): JobRecord {
  return {
    id: job.id,
    run_id: run.id,
    workflow: run.workflow,
    workflow_id: run.workflow_id,
    step: job.step,
    name: job.step,
    family: job.family,
    scope: job.scope,
    status: job.status,
    attempts: job.attempt_id,
    attempt_id: attemptAt(job.status, job.attempt_id),
    visits: job.visit,
    handled: job.handled,
    stood_in_by: job.stood_in_by,
    dead_letter: job.dead_letter,
    taken_over: isTakenOver(run, job),
    due_at: job.due_at === null ? null : iso(job.due_at),
    error: job.error,
    failure_handler_id: job.failure_handler_id,
  };
}

/** It was done in another run, so nothing of this one has tried it. Another job may have stood in for it. */
export function isTakenOver(
  { options }: Pick<RunRow, "options">,
  { status, attempt_id, stood_in_by: by }: Pick<JobRow, "status" | "attempt_id" | "stood_in_by">,
): boolean {
  return options.reused?.from != null && attempt_id === 0 && (status === "completed" || by !== null);
}
