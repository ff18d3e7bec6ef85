import { EVENT_JOB_PATTERN } from "../../event-job.js";
import { toJsonRows } from "../../json-rows.js";
import type { Append, StoreChange } from "../../store.js";
import { TABLES } from "../../tables.js";
import type { Parameter } from "../connection-pool.js";
import { toArrayLiteral } from "../database.js";

const EVENT_JOB = new RegExp(EVENT_JOB_PATTERN);

/** The parameters of `COMMIT_CALL`. `changes` are notified with the commit. */
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

/** The run, the token, the first event, and where an earlier append of the same call ends. */
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
      // 0 stands for no job.
      jobs.push(Number(EVENT_JOB.exec(event.data)?.[1] ?? 0));
    }
  }
  return [runIds, seqs, times, types, data, jobs].map((column) => toArrayLiteral(column));
}

/** The text of a notification, without the sender's name. */
export function nameChange(kind: StoreChange["kind"], runId: number): string {
  return `${kind}:${runId}`;
}
