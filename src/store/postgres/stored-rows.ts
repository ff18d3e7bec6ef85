import type { Event, LoggedEvent } from "../../core/model/events.js";
import type { AttemptRow, CheckpointRow, JobRow, RouteRow, RunRow } from "../../core/model/rows.js";
import type { LastLease, Lease, LeaseOwner } from "../store.js";
import { parseStoredJson } from "../stored-json.js";

/** The columns of each table in the order of the port's rows, for reading. */
export const COLUMNS = {
  run: "id, workflow_id, workflow, definition_hash, status, inputs, options, folder, file, parent_run_id, parent_job_id, managed, wanted, error, created_at, started_at, finished_at, cause",
  event: "seq, at, data",
  job: "job.id, job.run_id, job.step, job.scope, job.status, job.attempt_id, job.visit, job.handled, job.due_at, job.error, job.output, job.failure_handler_id, job.dead_letter",
  attempt: "job_id, attempt, run_id, visit, worker, token, status, started_at, finished_at, error",
  route: 'run_id, seq, at, job_id, step, scope, attempt, rung, "to", reason',
  checkpoint:
    "run_id, ordinal, job_id, step, scope, attempt, visit, commit_id, diff_hash, changed_files, patch, stored, superseded, at",
  failure_handler: "id, workflow_id, name, rules",
  workflow: "id, name, version, definition_hash, file, created_at, source",
  draft: "name, source, revision, updated_at",
  token: "id, name, role, created_at, expires_at, revoked_at",
} as const;

type AsText<Row, Column extends keyof Row> = Omit<Row, Column> & { readonly [C in Column]: string | null };

export type StoredRun = AsText<Omit<RunRow, "parent">, "inputs" | "options" | "error"> & {
  readonly parent_run_id: number | null;
  readonly parent_job_id: number | null;
};
export type StoredJob = AsText<JobRow, "error" | "output">;
export type StoredAttempt = AsText<AttemptRow, "error">;
export type StoredCheckpoint = AsText<CheckpointRow, "changed_files">;
export interface StoredEvent {
  readonly seq: number;
  readonly at: number;
  readonly data: string;
}
export interface StoredLease {
  readonly fence: number;
  readonly owner: string | null;
  readonly expires_at: number;
}

export function storeRun({ parent, inputs, options, error, ...row }: RunRow): StoredRun {
  return {
    ...row,
    inputs: JSON.stringify(inputs),
    options: JSON.stringify(options),
    parent_run_id: parent?.run_id ?? null,
    parent_job_id: parent?.job_id ?? null,
    error: toJson(error),
  };
}

export function storeJob(job: JobRow): StoredJob {
  return { ...job, error: toJson(job.error), output: toJson(job.output) };
}

export function storeAttempt(attempt: AttemptRow): StoredAttempt {
  return { ...attempt, error: toJson(attempt.error) };
}

export function storeCheckpoint(checkpoint: CheckpointRow): StoredCheckpoint {
  return { ...checkpoint, changed_files: JSON.stringify(checkpoint.changed_files) };
}

/** What was stored is what the port gave, so the readers trust its shape. */
export function readStoredRun(stored: StoredRun): RunRow {
  const { parent_run_id, parent_job_id, inputs, options, error, ...row } = stored;
  const parent =
    parent_run_id === null || parent_job_id === null
      ? null
      : { run_id: parent_run_id, job_id: parent_job_id };
  const place = () => `a column of the row of run ${row.id} in the table run`;
  return {
    ...row,
    inputs: fromJson(inputs, place),
    options: fromJson(options, place),
    parent,
    error: fromJson(error, place),
  } as RunRow;
}

export function readStoredJob(stored: StoredJob): JobRow {
  const place = () => `a column of the row of job ${stored.id} in the table job`;
  return {
    ...stored,
    error: fromJson(stored.error, place),
    output: fromJson(stored.output, place),
  } as JobRow;
}

export function readStoredAttempt(stored: StoredAttempt): AttemptRow {
  const place = () => `the error of attempt ${stored.attempt} of job ${stored.job_id} in the table attempt`;
  return { ...stored, error: fromJson(stored.error, place) } as AttemptRow;
}

export function readStoredCheckpoint(stored: StoredCheckpoint): CheckpointRow {
  const place = () =>
    `the files of checkpoint ${stored.ordinal} of run ${stored.run_id} in the table checkpoint`;
  return { ...stored, changed_files: fromJson(stored.changed_files, place) } as CheckpointRow;
}

export function readStoredRoute(stored: RouteRow): RouteRow {
  return { ...stored };
}

export function readStoredEvent(runId: number, { seq, at, data }: StoredEvent): LoggedEvent {
  const place = () => `event ${seq} of run ${runId} in the table event`;
  return { seq, at, event: parseStoredJson(data, place) as Event };
}

/** Null: nobody holds it. */
export function readStoredLease({ fence, owner, expires_at }: StoredLease): Lease | null {
  if (owner === null) return null;
  const read = parseStoredJson(owner, () => "an owner in the table lease") as LeaseOwner;
  return { owner: read, fence, expiresAt: expires_at };
}

export function readLastLease(stored: StoredLease & { readonly run_id: number }): LastLease {
  const { run_id: runId, expires_at: expiresAt } = stored;
  return { runId, owner: readStoredLease(stored)?.owner ?? null, expiresAt };
}

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function fromJson(text: string | null, place: () => string): unknown {
  return text === null ? null : parseStoredJson(text, place);
}
