import type { JobStatus } from "../core/model/rows.js";

/** A job that needs a person: it is held, asks a question, or failed with its run. */
export interface UnansweredJob {
  readonly id: number;
  readonly run_id: number;
  readonly workflow: string;
  readonly definition_hash: string;
  readonly step: string;
  readonly family: string | null;
  readonly scope: string;
  readonly status: JobStatus;
  readonly dead_letter: boolean;
  readonly visit: number;
  readonly attempt_id: number;
  /** The signature of its last attempt; null if that did not fail, or there was none. */
  readonly signature: string | null;
  /** When its last attempt ended, or began if it is still running. Without attempts, when the run was created. */
  readonly at: number;
  /** When its deadline ends; null if it waits until somebody decides. */
  readonly due_at: number | null;
}

/** The condition for such jobs among the marked ones. A child run's failure belongs to its parent. */
export const UNANSWERED_IN_RUN = `(CASE WHEN job.status <> 'failed' THEN run.status IN ('running', 'paused', 'held')
  ELSE run.status = 'failed' AND (run.parent_job_id IS NULL OR job.dead_letter) END)`;

export const UNANSWERED_COLUMNS = `job.id, job.run_id, run.workflow, run.definition_hash, job.step, job.family, job.scope,
  job.status, job.dead_letter, job.visit, job.attempt_id, attempt.signature,
  coalesce(attempt.finished_at, attempt.started_at, run.created_at) AS at, job.due_at`;

export const ATTEMPT_OF_JOB = `LEFT JOIN attempt ON attempt.run_id = job.run_id AND attempt.job_id = job.id
  AND attempt.attempt = job.attempt_id`;
