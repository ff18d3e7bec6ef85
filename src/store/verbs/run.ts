import type { AttemptRow, CheckpointRow, JobRow, RouteRow, RunRow } from "../../core/model/rows.js";
import { isSettled } from "../../core/model/run.js";
import { DATE_RANGE } from "../../core/text/iso-time.js";
import {
  afterSignatures,
  firstJobId,
  type JobFilter,
  type RunFilter,
  runOfJobId,
  searchesRuns,
} from "../filters.js";
import type { EventRange, InboxCommand, NewInboxCommand, StoredPatch, StoredSnapshot } from "../store.js";
import { TABLES } from "../tables.js";
import { ATTEMPT_OF_JOB, UNANSWERED_COLUMNS, UNANSWERED_IN_RUN, type UnansweredJob } from "../unanswered.js";
import { UNFINISHED_RUN_STATUSES } from "../write-rules.js";
import {
  Conditions,
  type Dialect,
  demandRuns,
  IS_OF_STEP,
  NOT_IMPORTED,
  row,
  rowOf,
  rows,
  rowsOf,
  type Value,
  type Verb,
} from "./dialect.js";

export function* readRun(_: Dialect, runId: number): Verb<RunRow | null> {
  return yield* rowOf(TABLES.run, "WHERE id = $1", runId);
}

export function* readJob(_: Dialect, id: number): Verb<JobRow | null> {
  return yield* rowOf(TABLES.job, "WHERE id = $1", id);
}

export function* readAttempts(dialect: Dialect, runId: number, jobId?: number): Verb<AttemptRow[]> {
  const { where, values } = new Conditions(dialect).demand("run_id = ?", runId).demand("job_id = ?", jobId);
  return yield* rowsOf(TABLES.attempt, `${where} ORDER BY job_id, attempt`, ...values);
}

export function* readRoutes(_: Dialect, runId: number): Verb<RouteRow[]> {
  return yield* rowsOf(TABLES.route, "WHERE run_id = $1 ORDER BY seq, place", runId);
}

export function* readCheckpoints(_: Dialect, runId: number): Verb<CheckpointRow[]> {
  return yield* rowsOf(TABLES.checkpoint, "WHERE run_id = $1 ORDER BY ordinal", runId);
}

export function* listRuns(dialect: Dialect, filter: RunFilter): Verb<RunRow[]> {
  const { rest, values } = findRuns(dialect, filter);
  return yield* rowsOf(TABLES.run, rest, ...values);
}

/**
 * Finds runs. Each condition selects run numbers from its own index, limited to one page, and full rows are read only
 * for the page.
 */
export function findRuns(
  dialect: Dialect,
  filter: RunFilter,
): { readonly rest: string; readonly values: readonly Value[] } {
  const { text, signature, since, until, beforeId, labels = [] } = filter;
  const found = new Conditions(dialect)
    .demandOneOf("run.status", filter.status, "text")
    .demand("run.workflow = ?", filter.workflow)
    .demand("run.parent_job_id = ?", filter.parentJob)
    .demand("run.parent_job_id >= ?", firstJobId(filter.parentRun))
    .demand("run.parent_job_id < ?", firstJobId(filter.parentRun, 1))
    .demand("run.cause = ?", filter.cause)
    .demandIf(filter.recovered === true, "run.recoveries > 0")
    .demandIf(filter.waiting === true, "run.waiting > 0")
    .demand("run.id < ?", beforeId);
  const among = (column: string, from: string, ...values: readonly Value[]): void => {
    const demand = `run.id IN (SELECT ${column} ${from}`;
    if (beforeId === undefined) found.demandAll(`${demand})`, ...values);
    else found.demandAll(`${demand} AND ${column} < ?)`, ...values, beforeId);
  };
  for (const { key, value } of labels)
    if (value === null) among("run_id", "FROM run_label WHERE key = ?", key);
    else among("run_id", "FROM run_label WHERE key = ? AND value = ?", key, value);
  if (since !== undefined || until !== undefined)
    among(
      "id",
      "FROM run WHERE created_at >= ? AND created_at < ?",
      since ?? -DATE_RANGE,
      until ?? DATE_RANGE,
    );
  if (signature !== undefined) among("run_id", FAILED_WITH, signature, afterSignatures(signature));
  if (text !== undefined)
    found.demandAll(
      `run.id IN (SELECT id FROM run WHERE ${dialect.position("search_text", "?")} > 0
         UNION ALL SELECT run_id ${failedSaying(dialect)})`,
      ...[text, text],
    );
  const ids = `SELECT run.id FROM run ${found.where} ORDER BY run.id DESC ${found.limit(filter.limit)}`;
  return { rest: `WHERE id IN (${ids}) ORDER BY id DESC`, values: found.values };
}

const FAILED_WITH = "FROM attempt WHERE signature >= ? AND signature < ?";

function failedSaying({ position }: Dialect): string {
  return `FROM attempt WHERE signature IS NOT NULL AND ${position("search_text", "?")} > 0`;
}

/** The parts of a query for jobs. */
interface FoundJobs {
  readonly from: string;
  readonly conditions: Conditions;
  /**
   * Whether runs are read first, then the jobs of each. Job ids begin with the run's number, so this is also their
   * order.
   */
  readonly byRun: boolean;
}

/**
 * A query for jobs. A search across runs for unsettled jobs means those that may still change. A finished run may have
 * left some (a stalled one does), which are shown only if that run is named. So such a list is made from the few
 * unfinished runs, and no store needs an index that every change of a job would have to update.
 */
export function findJobs(dialect: Dialect, filter: JobFilter): FoundJobs {
  const { status, runId, runIds, text, signature, afterId } = filter;
  const unfinishedOnly = runId === undefined && status !== undefined && !status.some(isSettled);
  const byRun = unfinishedOnly || searchesRuns(filter);
  const conditions = new Conditions(dialect)
    .demandOneOf("run.status", unfinishedOnly ? UNFINISHED_RUN_STATUSES : undefined, "text")
    .demand("run.workflow_id = ?", filter.workflowId)
    .demand("job.run_id = ?", runId)
    .demandOneOf("job.run_id", runIds, "bigint")
    .demandOneOf("job.status", status, "text")
    .demand(IS_OF_STEP, filter.step)
    .demandIf(filter.deadLetter === true, "job.dead_letter");
  if (byRun)
    demandRuns(conditions, filter).demand(
      "run.id >= ?",
      afterId === undefined ? undefined : runOfJobId(afterId),
    );
  if (signature !== undefined)
    conditions.demandAll(`job.id IN (SELECT job_id ${FAILED_WITH})`, signature, afterSignatures(signature));
  if (text !== undefined)
    conditions.demandAll(
      `(${dialect.position(dialect.lower("job.step"), "?")} > 0 OR job.id IN (SELECT job_id ${failedSaying(dialect)}))`,
      ...[text, text],
    );
  // Otherwise SQLite would read all jobs.
  const from = byRun ? `run ${dialect.join} job ON job.run_id = run.id` : "job";
  return { from, conditions, byRun };
}

export function findEvents(
  dialect: Dialect,
  runId: number,
  { job, types }: Pick<EventRange, "job" | "types">,
): { readonly from: string; readonly conditions: Conditions } {
  const conditions = new Conditions(dialect)
    .demand("run_id = ?", runId)
    .demand(`${dialect.eventJob} = ?`, job)
    .demandOneOf("type", types, "text");
  // SQLite would consider reading the run's whole log just as good.
  return { from: job === undefined ? "event" : `event ${dialect.indexed("event_by_job")}`, conditions };
}

export function* listUnanswered({ join, indexed }: Dialect, limit: number): Verb<UnansweredJob[]> {
  const found = yield* rows<UnansweredJob>(
    `SELECT ${UNANSWERED_COLUMNS} FROM job ${indexed("job_unanswered")} ${join} run ON run.id = job.run_id ${ATTEMPT_OF_JOB}
     WHERE job.unanswered AND ${NOT_IMPORTED} AND ${UNANSWERED_IN_RUN} ORDER BY job.id DESC LIMIT $1`,
    limit,
  );
  return found.map((job) => ({ ...job, dead_letter: Boolean(job.dead_letter) }));
}

/** Sends a command. Its key is looked up first, because an insert that meets an existing key still uses up an id. */
export function* sendCommand(_: Dialect, { runId, key, command, at }: NewInboxCommand): Verb<number> {
  const sql = "SELECT id FROM inbox WHERE run_id = $1 AND key = $2";
  const there = yield* row<{ id: number }>(sql, runId, key);
  if (there !== null) return there.id;
  const added = yield* row<{ id: number }>(
    "INSERT INTO inbox (run_id, key, command, at) VALUES ($1, $2, $3, $4) RETURNING id",
    ...[runId, key, command, at],
  );
  return added!.id;
}

export function* readInbox({ among }: Dialect, runIds: readonly number[]): Verb<InboxCommand[]> {
  const found = yield* rows<{ id: number; run_id: number; command: string }>(
    `SELECT id, run_id, command FROM inbox WHERE answer IS NULL AND ${among("run_id", "$1", "bigint")} ORDER BY id`,
    runIds,
  );
  return found.map(({ id, run_id, command }) => ({ id, runId: run_id, command }));
}

/** Returns the run of the command; null if there was no open command. */
export function* answerCommand(_: Dialect, id: number, answer: string): Verb<number | null> {
  const sql = "UPDATE inbox SET answer = $2 WHERE id = $1 AND answer IS NULL RETURNING run_id";
  return (yield* row<{ run_id: number }>(sql, id, answer))?.run_id ?? null;
}

export function* readAnswer(_: Dialect, id: number): Verb<string | null> {
  const entry = yield* row<{ answer: string | null }>("SELECT answer FROM inbox WHERE id = $1", id);
  return entry?.answer ?? null;
}

export function* forgetCommands(_: Dialect, runId: number, before: number): Verb<void> {
  yield* rows("DELETE FROM inbox WHERE run_id = $1 AND at < $2", runId, before);
}

type Stored = Uint8Array | string | null;

export function* putPatch({ bytes }: Dialect, patch: StoredPatch): Verb<void> {
  yield* rows(
    `INSERT INTO patch (run_id, diff_hash, bytes) VALUES ($1, $2, ${bytes.write("$3")}) ON CONFLICT DO NOTHING`,
    ...[patch.runId, patch.diffHash, patch.bytes],
  );
}

export function* readPatch({ bytes }: Dialect, runId: number, diffHash: string): Verb<Uint8Array | null> {
  const found = yield* row<{ bytes: Stored }>(
    `SELECT ${bytes.read("bytes")} AS bytes FROM patch WHERE run_id = $1 AND diff_hash = $2`,
    ...[runId, diffHash],
  );
  return found === null ? null : bytesOf(found.bytes);
}

export function* putSnapshot({ bytes }: Dialect, snapshot: StoredSnapshot): Verb<void> {
  const { runId, seq, version, sha256 } = snapshot;
  yield* rows(
    `INSERT INTO snapshot (run_id, seq, version, sha256, bytes) VALUES ($1, $2, $3, $4, ${bytes.write("$5")})
     ON CONFLICT (run_id) DO UPDATE
       SET seq = excluded.seq, version = excluded.version, sha256 = excluded.sha256, bytes = excluded.bytes`,
    ...[runId, seq, version, sha256, snapshot.bytes],
  );
}

export function* readSnapshot({ bytes }: Dialect, runId: number): Verb<StoredSnapshot | null> {
  const found = yield* row<Omit<StoredSnapshot, "runId" | "bytes"> & { bytes: Stored }>(
    `SELECT seq, version, sha256, ${bytes.read("bytes")} AS bytes FROM snapshot WHERE run_id = $1`,
    runId,
  );
  return found === null ? null : { ...found, runId, bytes: bytesOf(found.bytes) };
}

/** Decodes bytes. PostgreSQL's driver has no bytes here, and some releases of Node return empty bytes as null. */
function bytesOf(stored: Stored): Uint8Array {
  if (typeof stored === "string") return Uint8Array.from(Buffer.from(stored, "base64"));
  return stored ?? new Uint8Array();
}
