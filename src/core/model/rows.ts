import type { RunConcurrency } from "../groups/concurrency.js";
import type { RunTally } from "../tally/run-tally.js";
import type { Json } from "../text/json.js";
import type { Labels } from "../text/labels.js";
import type { Output, RungName, RunOptions } from "./events.js";
import type { ErrorRecord, Failure } from "./failure.js";

export const JOB_STATUSES = [
  "blocked",
  "ready",
  "running",
  "waiting",
  "recovering",
  "pending_failed",
  "completed",
  "failed",
  "skipped",
  "canceled",
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];
export type RunStatus = "pending" | "running" | "paused" | "held" | "completed" | "failed" | "canceled";
export type AttemptStatus = "running" | "succeeded" | "failed" | "stopped";

/** The attempt that a job is at, from 1: the last one, or the next while it is ready. */
export function attemptAt(status: JobStatus, attempts: number): number {
  return status === "ready" ? attempts + 1 : Math.max(1, attempts);
}

/**
 * How a store keeps a field of a row: as it is, as a mark (a database may know no truth), as JSON, as free text (which may hold
 * what a database cannot), or in several columns, each with a key of the field.
 */
export type ColumnKind<T> = [T] extends [boolean]
  ? "mark"
  : [T] extends [number | string | null]
    ? "plain" | "free_text"
    : "json" | { readonly [column: string]: keyof NonNullable<T> & string };

/** Every field of a row, in the order of its table's columns. */
export type ColumnsOf<Row> = { readonly [Field in keyof Row]-?: ColumnKind<Row[Field]> };

/** The rows that stores keep beside the log. Core makes them (`projections.ts`), a store only writes them. */
export interface RunRow {
  readonly id: number;
  readonly workflow_id: number;
  readonly workflow: string;
  readonly definition_hash: string;
  readonly status: RunStatus;
  readonly inputs: { readonly [name: string]: Json };
  readonly options: RunOptions;
  readonly folder: string;
  readonly file: string | null;
  /** The job of another run for which this is a child run. */
  readonly parent: { readonly run_id: number; readonly job_id: number } | null;
  /** Servers go on with it by themselves; a run of `daruma run` is its own process's business. */
  readonly managed: boolean;
  /** A managed run in which something is to be done: an engine must have it. */
  readonly wanted: boolean;
  /** A managed run at rest in which something is due then, whatever people do: an engine must have it from then on. */
  readonly wanted_at: number | null;
  /** What made it, where that may ask twice: no two runs of a store have the same. */
  readonly cause: string | null;
  readonly error: ErrorRecord | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  /** Null: it has none. */
  readonly labels: Labels | null;
  /** Its name, labels and error as searches read them; rows of older versions may have none. */
  readonly search_text: string | null;
  /** How often a rung brought a step back. Like the two below: of a row of an older version not known. */
  readonly recoveries: number | null;
  /** How many jobs wait for somebody: holds and open questions. */
  readonly waiting: number | null;
  readonly tally: RunTally | null;
  /** Null: it needs no place. */
  readonly concurrency: RunConcurrency | null;
  /** Null: 0, as in rows of older versions. */
  readonly priority: number | null;
}

export const RUN_COLUMNS: ColumnsOf<RunRow> = {
  id: "plain",
  workflow_id: "plain",
  workflow: "plain",
  definition_hash: "plain",
  status: "plain",
  inputs: "json",
  options: "json",
  folder: "plain",
  file: "plain",
  parent: { parent_run_id: "run_id", parent_job_id: "job_id" },
  managed: "mark",
  wanted: "mark",
  error: "json",
  created_at: "plain",
  started_at: "plain",
  finished_at: "plain",
  cause: "plain",
  labels: "json",
  search_text: "plain",
  recoveries: "plain",
  waiting: "plain",
  tally: "json",
  wanted_at: "plain",
  concurrency: { concurrency_group: "group", group_limit: "limit", group_policy: "policy" },
  priority: "plain",
};

export interface JobRow {
  readonly id: number;
  readonly run_id: number;
  readonly step: string;
  readonly scope: string;
  readonly status: JobStatus;
  readonly attempt_id: number;
  readonly visit: number;
  readonly handled: boolean;
  /** The queue has given it up, and nobody has redriven or decided it since. */
  readonly dead_letter: boolean;
  readonly due_at: number | null;
  readonly error: Failure | null;
  readonly output: Output | null;
  readonly failure_handler_id: number | null;
  /** It is held, asks a question, or has failed and nothing handled that. Whether somebody need look depends on its run, too. */
  readonly unanswered: boolean;
}

export const JOB_COLUMNS: ColumnsOf<JobRow> = {
  id: "plain",
  run_id: "plain",
  step: "plain",
  scope: "plain",
  status: "plain",
  attempt_id: "plain",
  visit: "plain",
  handled: "mark",
  due_at: "plain",
  error: "json",
  output: "json",
  failure_handler_id: "plain",
  dead_letter: "mark",
  unanswered: "mark",
};

export interface FailureHandlerRow {
  readonly id: number;
  readonly workflow_id: number;
  readonly name: string;
  /** A JSON array of rules: exit_codes, match_all_exit_codes, recovery_script, recovery_timeout_ms, max_retries. */
  readonly rules: string;
}

export interface AttemptRow {
  readonly job_id: number;
  readonly attempt: number;
  readonly run_id: number;
  readonly visit: number;
  readonly worker: string;
  readonly token: string;
  readonly status: AttemptStatus;
  readonly started_at: number;
  readonly finished_at: number | null;
  readonly error: Failure | null;
  readonly node: string | null;
  readonly allocation: string | null;
  readonly restart: number | null;
  /** Of a failed one: what it failed of, and its words as searches read them. */
  readonly signature: string | null;
  readonly search_text: string | null;
}

export const ATTEMPT_COLUMNS: ColumnsOf<AttemptRow> = {
  job_id: "plain",
  attempt: "plain",
  run_id: "plain",
  visit: "plain",
  worker: "plain",
  token: "plain",
  status: "plain",
  started_at: "plain",
  finished_at: "plain",
  error: "json",
  node: "plain",
  allocation: "plain",
  restart: "plain",
  signature: "plain",
  search_text: "plain",
};

/** What a step of the workspace has left. */
export interface CheckpointRow {
  readonly run_id: number;
  readonly ordinal: number;
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly attempt: number;
  readonly visit: number;
  readonly commit_id: string;
  /** Null: it changed nothing. */
  readonly diff_hash: string | null;
  /** The first of them. */
  readonly changed_files: readonly string[];
  /** The patch's place below the run's folder. */
  readonly patch: string;
  /** The store has the patch, too, so that every server can replay it. */
  readonly stored: boolean;
  readonly superseded: boolean;
  readonly at: number;
}

export const CHECKPOINT_COLUMNS: ColumnsOf<CheckpointRow> = {
  run_id: "plain",
  ordinal: "plain",
  job_id: "plain",
  step: "plain",
  scope: "plain",
  attempt: "plain",
  visit: "plain",
  commit_id: "plain",
  diff_hash: "plain",
  changed_files: "json",
  patch: "plain",
  stored: "mark",
  superseded: "mark",
  at: "plain",
};

export interface RouteRow {
  readonly run_id: number;
  readonly seq: number;
  readonly at: number;
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly attempt: number;
  readonly rung: RungName | "on_success" | "operator" | "undo";
  readonly to: string;
  readonly reason: string;
}

export const ROUTE_COLUMNS: ColumnsOf<RouteRow> = {
  run_id: "plain",
  seq: "plain",
  at: "plain",
  job_id: "plain",
  step: "plain",
  scope: "plain",
  attempt: "plain",
  rung: "plain",
  to: "plain",
  reason: "free_text",
};
