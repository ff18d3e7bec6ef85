import { RUN_CONCURRENCY } from "../groups/concurrency.js";
import type { RunTally } from "../tally/run-tally.js";
import type { Labels } from "../text/labels.js";
import {
  type Fields,
  flag,
  freeText,
  id,
  inColumns,
  json,
  jsonOf,
  list,
  nullable,
  type Of,
  type OfFields,
  object,
  record,
  text,
  time,
  word,
} from "../text/shape.js";
import { DECISION, OUTPUT, RUN_OPTIONS, type RungName, UNCLEAN_CHILD } from "./events.js";
import { type ErrorRecord, FAILURE } from "./failure.js";
import { ROUTE_ENDS } from "./route.js";

export const JOB_STATUSES = [
  "blocked",
  "ready",
  "running",
  "waiting",
  "recovering",
  "held",
  "completed",
  "failed",
  "skipped",
  "canceled",
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];
export const RUN_STATUSES = [
  ...(["pending", "running", "paused", "held"] as const),
  ...(["completed", "failed", "canceled"] as const),
] as const;
const RUN_STATUS = word(RUN_STATUSES);
export type RunStatus = Of<typeof RUN_STATUS>;
const ATTEMPT_STATUS = word(["running", "succeeded", "failed", "stopped", "suspended"]);
export type AttemptStatus = Of<typeof ATTEMPT_STATUS>;

/** The attempt that a job is at, from 1: the last one, or the next while it is ready. */
export function attemptAt(status: JobStatus, attempts: number): number {
  return status === "ready" ? attempts + 1 : Math.max(1, attempts);
}

// The rows that stores keep beside the log. Core makes them (`projections.ts`), a store only writes them. The fields are in
// the order of the table's columns.

export const RUN_ROW = {
  id,
  workflow_id: id,
  workflow: text,
  definition_hash: text,
  status: RUN_STATUS,
  inputs: record(json),
  options: RUN_OPTIONS,
  folder: text,
  file: nullable(text),
  /** The job of another run for which this is a child run. */
  parent: inColumns(nullable(object({ run_id: id, job_id: id })), {
    parent_run_id: "run_id",
    parent_job_id: "job_id",
  }),
  /** Servers go on with it by themselves; a run of `daruma run` is its own process's business. */
  managed: flag,
  /** A managed run in which something is to be done: an engine must have it. */
  wanted: flag,
  error: nullable(jsonOf<ErrorRecord>()),
  created_at: time,
  started_at: nullable(time),
  finished_at: nullable(time),
  /** What made it, where that may ask twice: no two runs of a store have the same. */
  cause: nullable(text),
  /** Null: it has none. */
  labels: nullable(jsonOf<Labels>()),
  /** Its name, labels and error as searches read them. */
  search_text: nullable(text),
  /** How often a rung brought a step back. */
  recoveries: nullable(id),
  /** How many jobs wait for somebody: holds and open questions. */
  waiting: nullable(id),
  tally: nullable(jsonOf<RunTally>()),
  /** A managed run at rest in which something is due then, whatever people do: an engine must have it from then on. */
  wanted_at: nullable(time),
  /** Null: it needs no place. */
  concurrency: inColumns(nullable(RUN_CONCURRENCY), {
    concurrency_group: "group",
    group_limit: "limit",
    group_policy: "policy",
  }),
  /** Null: 0. */
  priority: nullable(id),
} as const satisfies Fields;
export type RunRow = OfFields<typeof RUN_ROW>;

/** What handles a failure. */
export const HANDLING_FIELDS = {
  how: word(["edge", "continue_on_failure", "join", "repair", "program"]),
  /** The step in which its route completed. */
  by: nullable(text),
  /** What the transitions of its route say becomes of the steps behind it. */
  then: nullable(word(ROUTE_ENDS)),
} as const satisfies Fields;
const HANDLING = object(HANDLING_FIELDS);
export type Handling = Of<typeof HANDLING>;
export type Decision = Of<typeof DECISION>;

export const JOB_ROW = {
  id,
  run_id: id,
  step: text,
  family: nullable(text),
  scope: text,
  status: word(JOB_STATUSES),
  attempt_id: id,
  visit: id,
  handled: flag,
  /** For a handled failure. */
  handling: nullable(HANDLING),
  /** The step whose output its dependents have had in place of its own. */
  stood_in_by: nullable(text),
  /** For a skipped job: the one whose handled failure caused the skip. */
  skipped_by: nullable(id),
  /** Of a skipped or completed job that was held before. */
  decided: nullable(DECISION),
  /** Of a step whose child run completed, though not all in it was mended. */
  below: nullable(UNCLEAN_CHILD),
  due_at: nullable(time),
  error: nullable(FAILURE),
  output: nullable(OUTPUT),
  failure_handler_id: nullable(id),
  /** The queue has given it up, and nobody has redriven or decided it since. */
  dead_letter: flag,
  /** It is held, asks a question, or has failed and that is left to people. Whether somebody need look depends on its run, too. */
  unanswered: flag,
} as const satisfies Fields;
export type JobRow = OfFields<typeof JOB_ROW>;

export const FAILURE_HANDLER_ROW = {
  id,
  workflow_id: id,
  name: text,
  /** A JSON array of rules: exit_codes, match_all_exit_codes, recovery_script, recovery_timeout_ms, max_retries. */
  rules: text,
} as const satisfies Fields;
export type FailureHandlerRow = OfFields<typeof FAILURE_HANDLER_ROW>;

export const ATTEMPT_ROW = {
  job_id: id,
  attempt: id,
  run_id: id,
  visit: id,
  worker: text,
  token: text,
  status: ATTEMPT_STATUS,
  started_at: time,
  finished_at: nullable(time),
  error: nullable(FAILURE),
  node: nullable(text),
  allocation: nullable(text),
  restart: nullable(id),
  /** For a failed attempt: its signature, and its text for searches. */
  signature: nullable(text),
  search_text: nullable(text),
} as const satisfies Fields;
export type AttemptRow = OfFields<typeof ATTEMPT_ROW>;

/** What a step of the workspace has left. */
export const CHECKPOINT_ROW = {
  run_id: id,
  ordinal: id,
  job_id: id,
  step: text,
  scope: text,
  attempt: id,
  visit: id,
  commit_id: text,
  /** Null if it changed nothing. */
  diff_hash: nullable(text),
  /** The first of them. */
  changed_files: list(text),
  /** The patch's place below the run's folder. */
  patch: text,
  /** The store has the patch, too, so that every server can replay it. */
  stored: flag,
  superseded: flag,
  at: time,
} as const satisfies Fields;
export type CheckpointRow = OfFields<typeof CHECKPOINT_ROW>;

export const ROUTE_ROW = {
  run_id: id,
  seq: id,
  at: time,
  job_id: id,
  step: text,
  scope: text,
  attempt: id,
  rung: word<RungName | "on_success" | "operator" | "undo">(),
  to: text,
  reason: freeText,
} as const satisfies Fields;
export type RouteRow = OfFields<typeof ROUTE_ROW>;
