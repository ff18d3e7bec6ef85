import type { LoggedEvent } from "../../core/model/events.js";
import type {
  AttemptRow,
  CheckpointRow,
  FailureHandlerRow,
  JobRow,
  RouteRow,
  RunRow,
} from "../../core/model/rows.js";
import { toStorableText } from "../storable-text.js";
import type { Append, DraftRow, JobName, LastLease, Lease, TokenRow, WorkflowRow } from "../store.js";
import { parseStoredJson } from "../stored-json.js";
import type { Cell } from "./sqlite-driver.js";

/**
 * Rows travel to and from the database thread as flat lists of cells: copying those is several times cheaper than
 * copying objects, and they are bound to statements as they are. The order of cells is that of the columns here.
 */
export const COLUMNS = {
  run: "id, workflow_id, workflow, definition_hash, status, inputs, options, folder, file, parent_run_id, parent_job_id, managed, wanted, error, created_at, started_at, finished_at, cause",
  event: "run_id, seq, at, type, data",
  job: "id, run_id, step, scope, status, attempt_id, visit, handled, due_at, error, output, failure_handler_id, dead_letter",
  attempt: "job_id, attempt, run_id, visit, worker, token, status, started_at, finished_at, error",
  route: 'run_id, seq, at, job_id, step, scope, attempt, rung, "to", reason',
  checkpoint:
    "run_id, ordinal, job_id, step, scope, attempt, visit, commit_id, diff_hash, changed_files, patch, stored, superseded, at",
  failure_handler: "id, workflow_id, name, rules",
  workflow: "id, name, version, definition_hash, file, created_at, source",
  draft: "name, source, revision, updated_at",
  token: "id, name, role, created_at, expires_at, revoked_at",
} as const;
export const LOGGED_EVENT_COLUMNS = "seq, at, data";

export interface PackedAppend {
  readonly runId: number;
  readonly fence: number;
  readonly firstSeq: number;
  /** Of a new run. */
  readonly cause: string | null;
  /** One row after the other, without separators. */
  readonly run: Cell[];
  readonly events: Cell[];
  readonly jobs: Cell[];
  readonly attempts: Cell[];
  readonly routes: Cell[];
  readonly checkpoints: Cell[];
}

export function packAppend(append: Append): PackedAppend {
  const { runId, fence, firstSeq } = append;
  const events: Cell[] = [];
  let seq = firstSeq;
  for (const { at, type, data } of append.events) {
    events.push(runId, seq, at, type, data);
    seq += 1;
  }
  const jobs: Cell[] = [];
  for (const job of append.jobs) packJob(job, jobs);
  const attempts: Cell[] = [];
  for (const attempt of append.attempts) packAttempt(attempt, attempts);
  const routes: Cell[] = [];
  for (const route of append.routes) packRoute(route, routes);
  const checkpoints: Cell[] = [];
  for (const checkpoint of append.checkpoints ?? []) packCheckpoint(checkpoint, checkpoints);
  const run = append.run === null ? [] : packRun(append.run);
  const cause = firstSeq === 1 ? (append.run?.cause ?? null) : null;
  return { runId, fence, firstSeq, cause, run, events, jobs, attempts, routes, checkpoints };
}

function packRun(run: RunRow): Cell[] {
  const { id, workflow_id, workflow, definition_hash, status, folder, file } = run;
  const cells: Cell[] = [id, workflow_id, workflow, definition_hash, status];
  cells.push(JSON.stringify(run.inputs), JSON.stringify(run.options), folder, file);
  cells.push(run.parent?.run_id ?? null, run.parent?.job_id ?? null);
  cells.push(run.managed ? 1 : 0, run.wanted ? 1 : 0, packJson(run.error));
  cells.push(run.created_at, run.started_at, run.finished_at, run.cause);
  return cells;
}

function packJob(job: JobRow, into: Cell[]): void {
  const { id, run_id, step, scope, status, attempt_id, visit, due_at } = job;
  const handled = job.handled ? 1 : 0;
  into.push(id, run_id, step, scope, status, attempt_id, visit, handled, due_at);
  into.push(packJson(job.error), packJson(job.output), job.failure_handler_id, job.dead_letter ? 1 : 0);
}

function packAttempt(row: AttemptRow, into: Cell[]): void {
  into.push(row.job_id, row.attempt, row.run_id, row.visit, row.worker, row.token, row.status);
  into.push(row.started_at, row.finished_at, packJson(row.error));
}

function packRoute(row: RouteRow, into: Cell[]): void {
  into.push(row.run_id, row.seq, row.at, row.job_id, row.step, row.scope, row.attempt, row.rung);
  into.push(row.to, toStorableText(row.reason));
}

function packCheckpoint(row: CheckpointRow, into: Cell[]): void {
  into.push(row.run_id, row.ordinal, row.job_id, row.step, row.scope, row.attempt, row.visit, row.commit_id);
  into.push(row.diff_hash, JSON.stringify(row.changed_files), row.patch);
  into.push(row.stored ? 1 : 0, row.superseded ? 1 : 0, row.at);
}

function packJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Read a flat list of rows with these columns. */
export function unpackRows<Row>(cells: Cells, columns: string, unpack: (row: Cells) => Row): Row[] {
  const width = widthOf(columns);
  const rows: Row[] = [];
  for (let from = 0; from < cells.length; from += width) rows.push(unpack(cells.slice(from, from + width)));
  return rows;
}

function widthOf(columns: string): number {
  return columns.split(", ").length;
}

/** One row as the database gives it. What it holds is what was packed, so the readers below trust its types. */
export type Cells = readonly Cell[];

export function unpackRun(row: Cells): RunRow {
  const [id, workflow_id, workflow, definition_hash, status, inputs, options, folder, file, ...rest] = row;
  const [run_id, job_id, managed, wanted, error, created_at, started_at, finished_at, cause] = rest;
  const parent = job_id === null ? null : { run_id, job_id };
  const known = { id, workflow_id, workflow, definition_hash, status, folder, file };
  const place = () => `a column of the row of run ${id} in the table run`;
  const [readInputs, readOptions, readError] = [inputs, options, error].map((cell) =>
    unpackJson(cell, place),
  );
  const parsed = { inputs: readInputs, options: readOptions, error: readError };
  const marks = { managed: managed === 1, wanted: wanted === 1 };
  return { ...known, ...parsed, parent, ...marks, cause, created_at, started_at, finished_at } as RunRow;
}

export function unpackJob(row: Cells): JobRow {
  const [id, run_id, step, scope, status, attempt_id, visit, handled, due_at, ...rest] = row;
  const [error, output, handler, dead] = rest;
  const place = () => `a column of the row of job ${id} in the table job`;
  return {
    ...{ id, run_id, step, scope, status, attempt_id, visit, due_at },
    handled: handled === 1,
    error: unpackJson(error, place),
    output: unpackJson(output, place),
    failure_handler_id: handler,
    dead_letter: dead === 1,
  } as JobRow;
}

export function unpackAttempt(row: Cells): AttemptRow {
  const [job_id, attempt, run_id, visit, worker, token, status, started_at, finished_at, error] = row;
  const known = { job_id, attempt, run_id, visit, worker, token, status, started_at, finished_at };
  const place = () => `the error of attempt ${attempt} of job ${job_id} in the table attempt`;
  return { ...known, error: unpackJson(error, place) } as AttemptRow;
}

export function unpackRoute(row: Cells): RouteRow {
  const [run_id, seq, at, job_id, step, scope, attempt, rung, to, reason] = row;
  return { run_id, seq, at, job_id, step, scope, attempt, rung, to, reason } as RouteRow;
}

export function unpackCheckpoint(row: Cells): CheckpointRow {
  const [run_id, ordinal, job_id, step, scope, attempt, visit, commit_id, diff_hash, ...rest] = row;
  const [files, patch, stored, superseded, at] = rest;
  const place = () => `the files of checkpoint ${ordinal} of run ${run_id} in the table checkpoint`;
  return {
    ...{ run_id, ordinal, job_id, step, scope, attempt, visit, commit_id, diff_hash },
    changed_files: unpackJson(files, place),
    ...{ patch, stored: stored === 1, superseded: superseded === 1, at },
  } as CheckpointRow;
}

export function unpackFailureHandler([id, workflow_id, name, rules]: Cells): FailureHandlerRow {
  return { id, workflow_id, name, rules } as FailureHandlerRow;
}

export function unpackWorkflow(row: Cells): WorkflowRow {
  const [id, name, version, definition_hash, file, created_at, source] = row;
  return { id, name, version, definition_hash, file, created_at, source } as WorkflowRow;
}

export function unpackDraft([name, source, revision, updated_at]: Cells): DraftRow {
  return { name, source, revision, updated_at } as DraftRow;
}

export function unpackToken([id, name, role, created_at, expires_at, revoked_at]: Cells): TokenRow {
  return { id, name, role, created_at, expires_at, revoked_at } as TokenRow;
}

export function unpackEvent(runId: number, [seq, at, data]: Cells): LoggedEvent {
  const place = () => `event ${seq} of run ${runId} in the table event`;
  return { seq, at, event: unpackJson(data, place) } as LoggedEvent;
}

/** From `fence, owner, expires_at`; null: nobody holds it. */
export const JOB_NAME_COLUMNS = "id, step, scope";

export function unpackJobName([id, step, scope]: Cells): JobName {
  return { id, step, scope } as JobName;
}

export const LAST_LEASE_COLUMNS = "run_id, owner, expires_at";

export function unpackLastLease([runId, owner, expiresAt]: Cells): LastLease {
  const place = () => `the owner of run ${runId} in the table lease`;
  return { runId, owner: unpackJson(owner, place), expiresAt } as LastLease;
}

export function unpackLease([fence, owner, expiresAt]: Cells): Lease | null {
  const place = () => "an owner in the table lease";
  return owner === null ? null : ({ owner: unpackJson(owner, place), fence, expiresAt } as Lease);
}

function unpackJson(cell: Cell | undefined, place: () => string): unknown {
  return typeof cell === "string" ? parseStoredJson(cell, place) : null;
}
