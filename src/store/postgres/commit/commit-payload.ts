import { EVENT_JOB_PATTERN } from "../../event-job.js";
import { toStorableText } from "../../storable-text.js";
import type { Append, StoreChange } from "../../store.js";
import { TABLES, type Table } from "../../tables.js";
import type { Parameter } from "../connection-pool.js";
import { toArrayLiteral } from "../database.js";
import { storedRow } from "../stored-rows.js";

const EVENT_JOB = new RegExp(EVENT_JOB_PATTERN);

/** A NUL or half a character in JSON, which PostgreSQL does not turn into text. */
const UNSTORABLE_ESCAPE = /\\u(0000|d[89a-f])/i;

/** The parameters of `COMMIT_CALL`; `changes` are notified with the commit. */
export function toCommitParameters(appends: readonly Append[], changes: readonly string[]): Parameter[] {
  return [
    ...describeAppends(appends),
    ...describeEvents(appends),
    toJsonRows(
      TABLES.run,
      appends.flatMap(({ run }) => run ?? []),
    ),
    toJsonRows(
      TABLES.job,
      appends.flatMap(({ jobs }) => jobs),
    ),
    toJsonRows(
      TABLES.attempt,
      appends.flatMap(({ attempts }) => attempts),
    ),
    toJsonRows(
      TABLES.route,
      appends.flatMap(({ routes }) => routes),
    ),
    toJsonRows(
      TABLES.checkpoint,
      appends.flatMap(({ checkpoints = [] }) => checkpoints),
    ),
    toJsonRows(
      TABLES.book_row,
      appends.flatMap(({ book = [] }) => book),
    ),
    toJsonRows(
      TABLES.outbox,
      appends.flatMap(({ outbox = [] }) => outbox),
    ),
    toArrayLiteral(changes),
  ];
}

/** Run, token, first event, and where an earlier one of these appends ends. */
function describeAppends(appends: readonly Append[]): string[] {
  const ends = new Map<number, number>();
  const known: string[] = [];
  for (const { runId, firstSeq, events } of appends) {
    known.push(String(ends.get(runId) ?? "NULL"));
    ends.set(runId, firstSeq + events.length - 1);
  }
  return [
    toArrayLiteral(appends.map(({ runId }) => runId)),
    toArrayLiteral(appends.map(({ fence }) => fence)),
    toArrayLiteral(appends.map(({ firstSeq }) => firstSeq)),
    `{${known.join(",")}}`,
  ];
}

function describeEvents(appends: readonly Append[]): string[] {
  const [runIds, seqs, times, jobs]: [number[], number[], number[], number[]] = [[], [], [], []];
  const [types, data]: [string[], string[]] = [[], []];
  for (const append of appends) {
    for (const [index, event] of append.events.entries()) {
      runIds.push(append.runId);
      seqs.push(append.firstSeq + index);
      times.push(event.at);
      types.push(event.type);
      data.push(event.data);
      // 0: none.
      jobs.push(Number(EVENT_JOB.exec(event.data)?.[1] ?? 0));
    }
  }
  return [runIds, seqs, times, types, data, jobs].map((column) => toArrayLiteral(column));
}

/** As it is notified, before the sender's name. */
export function nameChange(kind: StoreChange["kind"], runId: number): string {
  return `${kind}:${runId}`;
}

/** An upsert may name a row only once, so of several versions the last one is sent. */
function lastOfEach<Row extends object>({ key }: Table<Row>, rows: readonly Row[]): readonly Row[] {
  if (rows.length < 2 || key.length === 0) return rows;
  const keyOf = (row: Row) => key.map((column) => row[column as keyof Row]).join("/");
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

/** Null: there are none, and nothing need be looked at. */
export function toJsonRows<Row extends object>(table: Table<Row>, rows: readonly Row[]): string | null {
  if (rows.length === 0) return null;
  const stored = lastOfEach(table, rows).map((row) => storedRow(table, row));
  const json = JSON.stringify(stored);
  if (!UNSTORABLE_ESCAPE.test(json)) return json;
  return JSON.stringify(stored, (_, value) => (typeof value === "string" ? toStorableText(value) : value));
}
