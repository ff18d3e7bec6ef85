import type { Notice } from "../../core/notices/notice.js";
import type { BesideNotices, CompletedStep, NoticeChange, NoticeFilter } from "../outbox-rows.js";
import { toStorableText } from "../stored-text.js";
import { TABLES } from "../tables.js";
import {
  Conditions,
  type Dialect,
  instant,
  NOT_IMPORTED,
  put,
  row,
  rows,
  rowsOf,
  type Verb,
  WRITTEN_STEP,
} from "./dialect.js";

export function* listNotices(
  dialect: Dialect,
  { limit, channels, states, runIds, after }: NoticeFilter,
): Verb<Notice[]> {
  const found = new Conditions(dialect)
    .demandOneOf("channel", channels, "text")
    .demandOneOf("state", states, "text")
    .demandOneOf("run_id", runIds, "bigint");
  if (after !== undefined) found.demandAll("(at, id) < (?, ?)", after.at, after.id);
  const rest = `${found.where} ORDER BY at DESC, id DESC ${found.limit(limit)}`;
  return yield* rowsOf(TABLES.outbox, rest, ...found.values);
}

export function* listNoticeLeases(): Verb<string[]> {
  const found = yield* rows<{ lease: string }>(
    "SELECT DISTINCT lease FROM outbox WHERE state IN ('new', 'due') AND lease IS NOT NULL ORDER BY lease",
  );
  return found.map(({ lease }) => lease);
}

export function* pruneNotices(_: Dialect, before: number): Verb<number> {
  const sql = "SELECT count(*) AS notices FROM outbox WHERE at < $1";
  const old = yield* row<{ notices: number }>(sql, before);
  yield* rows("DELETE FROM outbox WHERE at < $1", before);
  return old?.notices ?? 0;
}

export function* findCompletion(
  { join }: Dialect,
  { workflow, step, since }: CompletedStep,
): Verb<number | null> {
  const found = yield* row<{ begun_at: number | null }>(
    `SELECT max(attempt.started_at) AS begun_at FROM run
     ${join} job ON job.run_id = run.id AND ${WRITTEN_STEP} = $1 AND job.status = 'completed'
     ${join} attempt ON attempt.run_id = run.id AND attempt.job_id = job.id AND attempt.attempt = job.attempt_id
       AND attempt.status = 'succeeded' AND attempt.started_at > $2
     WHERE run.workflow = $3 AND (run.finished_at IS NULL OR run.finished_at > $2) AND ${NOT_IMPORTED}`,
    ...[step, since, workflow],
  );
  return found?.begun_at ?? null;
}

/**
 * Writes changes and new notices. Returns false, and writes nothing, if a notice is no longer leased this way. An
 * existing notice is not changed.
 */
export function* settle(dialect: Dialect, { now, notices = [], settled = [] }: BesideNotices): Verb<boolean> {
  if (settled.length > 0 && !(yield* writeChanges(dialect, now, settled))) return false;
  yield* put(dialect, TABLES.outbox, notices, []);
  return true;
}

const CHANGE = {
  ...{ id: "text", lease: "text", state: "text", told: "text", tries: "integer", error: "text" },
  ...{ settled_at: "bigint", next_at: "bigint" },
} as const;

function* writeChanges(dialect: Dialect, now: number, settled: readonly NoticeChange[]): Verb<boolean> {
  const at = yield* instant(dialect, now);
  const changes = settled.map(({ delayMs, told, error, ...change }) => ({
    ...{ ...change, next_at: at + delayMs, told: told === null ? null : JSON.stringify(told) },
    error: error === null ? null : toStorableText(error),
  }));
  const [given, json] = [dialect.records("$1", CHANGE), JSON.stringify(changes)];
  const held = yield* row<{ notices: number }>(
    `SELECT count(*) AS notices FROM outbox JOIN (${given}) AS given
       ON outbox.id = given.id AND outbox.lease = given.lease`,
    json,
  );
  if (held?.notices !== settled.length) return false;
  yield* rows(
    `UPDATE outbox SET state = given.state, told = given.told, tries = given.tries, error = given.error,
       settled_at = given.settled_at, next_at = given.next_at, lease = NULL, leased_until = 0
     FROM (${given}) AS given WHERE outbox.id = given.id`,
    json,
  );
  return true;
}
