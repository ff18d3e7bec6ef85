import type { RunOptions } from "../../src/core/model/events.js";
import type { Failure } from "../../src/core/model/failure.js";
import type { AttemptRow, CheckpointRow, JobRow, RouteRow, RunRow } from "../../src/core/model/rows.js";
import type { Append, LeaseOwner, NewWorkflow, SerialisedEvent, Store } from "../../src/store/store.js";
import type { Table } from "../../src/store/tables.js";
import { failureOf } from "../support/error-record.js";

export const OWNER: LeaseOwner = {
  host: "h1",
  bootId: "boot",
  pid: 10,
  processStart: "77",
  engine: "engine-1",
};
export const RIVAL: LeaseOwner = { ...OWNER, pid: 11, engine: "engine-2" };
export const FAR_FUTURE = 4_000_000_000_000;

const OPTIONS: RunOptions = { max_loops: 3, retry_max: null, failure_routing: true, only: null };

export const FAILURE: Failure = failureOf();

export function newWorkflow(changes: Partial<NewWorkflow> = {}): NewWorkflow {
  const known = { name: "release", hash: "h1", definition: '{"name":"release"}', file: "/a.yaml", at: 1 };
  return { ...known, failureHandlers: [], ...changes };
}

export function runRow(id: number, changes: Partial<RunRow> = {}): RunRow {
  return {
    id,
    workflow_id: 7,
    workflow: "release",
    definition_hash: "hash-1",
    status: "running",
    inputs: { target: "staging", list: [1, null, { deep: true }] },
    options: OPTIONS,
    folder: "/srv/a b",
    file: "/srv/a b/release.yaml",
    parent: null,
    managed: false,
    wanted: false,
    wanted_at: null,
    cause: null,
    labels: { team: "core", "app/tier": "back end" },
    search_text: "release app/tier=back end, team=core",
    recoveries: 2,
    waiting: 1,
    tally: { jobs: { completed: 1, failed: 2 }, handled: 1, recovered: [], concern: null },
    concurrency: null,
    priority: 3,
    error: null,
    created_at: 1_700_000_000_000,
    started_at: null,
    finished_at: null,
    ...changes,
  };
}

export function jobRow(runId: number, n: number, changes: Partial<JobRow> = {}): JobRow {
  return {
    id: runId * 10_000_000 + n,
    run_id: runId,
    step: `step-${n}`,
    family: null,
    scope: "root",
    status: "blocked",
    attempt_id: 0,
    visit: 1,
    handled: false,
    handling: null,
    stood_in_by: null,
    skipped_by: null,
    decided: null,
    below: null,
    due_at: null,
    error: null,
    output: null,
    failure_handler_id: null,
    dead_letter: false,
    unanswered: false,
    ...changes,
  };
}

export function attemptRow(
  runId: number,
  n: number,
  attempt: number,
  changes: Partial<AttemptRow> = {},
): AttemptRow {
  return {
    job_id: runId * 10_000_000 + n,
    attempt,
    run_id: runId,
    visit: 1,
    worker: "local-1",
    token: `token-${n}-${attempt}`,
    status: "running",
    started_at: 1_700_000_000_100,
    finished_at: null,
    error: null,
    node: "node7",
    allocation: "slurm/1234",
    restart: 1,
    signature: null,
    search_text: null,
    ...changes,
  };
}

export function routeRow(runId: number, seq: number, changes: Partial<RouteRow> = {}): RouteRow {
  return {
    run_id: runId,
    seq,
    at: 1_700_000_000_200 + seq,
    job_id: runId * 10_000_000 + 1,
    step: "step-1",
    scope: "root",
    attempt: 1,
    rung: "goto",
    to: "setup",
    reason: "goto: setup",
    ...changes,
  };
}

export function checkpointRow(
  runId: number,
  ordinal: number,
  changes: Partial<CheckpointRow> = {},
): CheckpointRow {
  return {
    run_id: runId,
    ordinal,
    job_id: runId * 10_000_000 + 1,
    step: "step-1",
    scope: "root",
    attempt: 1,
    visit: 1,
    commit_id: "c".repeat(40),
    diff_hash: "d".repeat(64),
    changed_files: ["a.txt", "näme\n\0"],
    patch: `patches/steps/step-000${ordinal}.patch`,
    stored: true,
    superseded: false,
    at: 1_700_000_000_300,
    ...changes,
  };
}

/** The row with another value in every column that a commit replaces, but for these; a null stays one. */
export function nextVersion<Row extends object>(
  table: Table<Row>,
  row: Row,
  except: readonly (keyof Row & string)[] = [],
): Row {
  const next = { ...row } as { [field: string]: unknown };
  for (const { name, field } of table.columns) {
    if (!table.replaced.includes(name) || (except as readonly string[]).includes(field)) continue;
    next[field] = otherThan((row as { readonly [field: string]: unknown })[field]);
  }
  return next as Row;
}

function otherThan(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return `${value}, changed`;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return [...value, "changed"];
  if (value === null) return null;
  return Object.fromEntries(Object.entries(value as object).map(([key, part]) => [key, otherThan(part)]));
}

export function canceledEvent(reason: string, at = 1_700_000_000_000): SerialisedEvent {
  return { at, type: "run.canceled", data: JSON.stringify({ type: "run.canceled", reason }) };
}

/** An append of one event unless told otherwise; a run's first has its row. */
export function appendTo(run: TakenRun, firstSeq: number, changes: Partial<Append> = {}): Append {
  return {
    runId: run.runId,
    fence: run.fence,
    firstSeq,
    events: [canceledEvent(`event ${firstSeq}`)],
    run: firstSeq === 1 ? runRow(run.runId) : null,
    jobs: [],
    attempts: [],
    routes: [],
    ...changes,
  };
}

export interface TakenRun {
  readonly runId: number;
  readonly fence: number;
}

/** A fresh run id with a lease on it. */
export async function takeRun(store: Store, owner = OWNER): Promise<TakenRun> {
  const runId = await store.reserveRunId();
  return { runId, fence: await mustAcquire(store, runId, owner) };
}

export async function mustAcquire(store: Store, runId: number, owner = OWNER): Promise<number> {
  const answer = await store.acquireLease({ runId, owner, now: 0, expiresAt: FAR_FUTURE });
  if (!answer.granted) throw new Error(`run ${runId} is held with token ${answer.lease.fence}`);
  return answer.fence;
}

/** A run that is there and that nobody holds; its rows as given. */
export async function putRun(
  store: Store,
  changes: Partial<RunRow> = {},
  more: (runId: number) => Partial<Append> = () => ({}),
): Promise<number> {
  const taken = await takeRun(store);
  await store.commit([appendTo(taken, 1, { run: runRow(taken.runId, changes), ...more(taken.runId) })]);
  await store.releaseLease(taken.runId, taken.fence);
  return taken.runId;
}

/** The id of a failure handler that is there. */
export async function registerHandler(store: Store): Promise<number> {
  const failureHandlers = [{ name: "recover", rules: "[]" }];
  const { failureHandlers: kept } = await store.registerWorkflow(newWorkflow({ failureHandlers }));
  if (kept[0] === undefined) throw new Error("the failure handler was not kept");
  return kept[0].id;
}
