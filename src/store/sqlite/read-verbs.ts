import type { JobFilter } from "../filters.js";
import type { EventRange } from "../store.js";
import { COLUMNS, JOB_COLUMNS_BESIDE_RUN } from "../tables.js";
import { Conditions } from "../verbs/dialect.js";
import { findEvents, findJobs } from "../verbs/run.js";
import { createColdReads, DIALECT, toCell, toText } from "./answer-now.js";
import { createWaitingReads } from "./lease-verbs.js";
import { LAST_LEASE_COLUMNS } from "./packed-rows.js";
import type { ReadVerbs } from "./protocol.js";
import { createSlotReads } from "./slot-verbs.js";
import { type Cell, type Database, keepStatements, type Statements } from "./sqlite-driver.js";

/**
 * Many rows are passed as JSON, because SQLite writes and V8 reads one long text several times faster than single
 * cells. Reading 100,000 jobs from SQLite, in ms of CPU: cells 390, JSON 74; their 200,000 events: 209 and 94.
 */
export interface JsonPiece {
  /** A list. */
  readonly json: string;
  readonly rows: number;
  /** The key of the last row. */
  readonly last: number;
}

interface JsonSource {
  /** A row as JSON, as an SQL expression. */
  readonly row: string;
  /** The unique column that orders the rows, with its name in the results first. */
  readonly key: readonly [result: string, column: string];
  /** `SELECT ... WHERE ...`; a condition on the key is appended. */
  readonly select: string;
  /** Given if it is the order of the key but SQLite cannot know that. */
  readonly order?: string;
  readonly cells: readonly Cell[];
  /** Finding a row takes more than an index, so all rows are read at once. */
  readonly atOnce?: boolean;
}

/** Keeps a text within the limits of SQLite and V8, even if every row has the largest allowed output. */
const ROWS_PER_PIECE = 2_000;
const NO_LIMIT = -1;

/** Reads the rows with keys above `after`, at most `limit` (null for all), in pieces. */
function readPieces(
  { rows }: Statements,
  source: JsonSource,
  after: number,
  limit: number | null,
): JsonPiece[] {
  const sql = pieceOf(source);
  const most = source.atOnce === true ? Number.POSITIVE_INFINITY : ROWS_PER_PIECE;
  const pieces: JsonPiece[] = [];
  for (let [from, left] = [after, limit ?? Number.POSITIVE_INFINITY]; left > 0; ) {
    const wanted = Math.min(left, most);
    const cells = [...source.cells, from, Number.isFinite(wanted) ? wanted : NO_LIMIT];
    const [found] = rows<readonly [string | null, number, number]>(sql, ...cells);
    const [json, last, count] = found!;
    if (json === null) break;
    pieces.push({ json, rows: count, last });
    if (count < wanted) break;
    [from, left] = [last, left - count];
  }
  return pieces;
}

/** A query for one piece. The aggregate keeps the order of its rows. */
export function pieceOf({ row, key: [result, column], select, order = column }: JsonSource): string {
  return `SELECT '[' || group_concat(${row}) || ']', max(${result}), count(*)
    FROM (${select} AND ${column} > ? ORDER BY ${order} LIMIT ?)`;
}

/** Smaller than every id. */
const NO_ID = Number.MIN_SAFE_INTEGER;

export const LIST_OWNERS = `
  SELECT lease.owner, max(lease.expires_at) FROM (
    SELECT id FROM run WHERE wanted = 1 UNION ALL
    SELECT id FROM run WHERE wanted_at IS NOT NULL UNION ALL
    SELECT id FROM run WHERE concurrency_group IS NOT NULL AND finished_at IS NULL AND started_at IS NULL
  ) AS asking CROSS JOIN lease ON lease.run_id = asking.id
  WHERE lease.owner IS NOT NULL GROUP BY lease.owner`;

/** The verbs that only read. */
export function createReadVerbs(db: Database): ReadVerbs {
  const statements = keepStatements(db);
  const { row, rows } = statements;
  return {
    ...createRunReads(statements),
    readLease: (runId) => row("SELECT fence, owner, expires_at FROM lease WHERE run_id = ?", runId),
    readLastLeases: (runIds) =>
      rows(
        `SELECT ${LAST_LEASE_COLUMNS} FROM lease WHERE run_id IN (SELECT value FROM json_each(?))`,
        JSON.stringify(runIds),
      ).flat(),
    ...createWaitingReads(statements),
    ...createColdReads(db),
    ...createSlotReads(statements),
    listOwners: () => rows<readonly [string, number]>(LIST_OWNERS).map(([owner, mark]) => ({ owner, mark })),
  };
}

type RunRead = "readEvents" | "readJobNames" | "listJobs";

/** Reads that may return very many rows. */
function createRunReads(statements: Statements): Pick<ReadVerbs, RunRead> {
  return {
    readEvents: (runId, range) =>
      readPieces(statements, piecesOfEvents(runId, range), range.afterSeq ?? 0, range.limit ?? null),
    readJobNames: (runId, { afterId, limit, step }) =>
      readPieces(statements, piecesOfJobNames(runId, step), afterId ?? 0, limit ?? null),
    listJobs: (filter) =>
      readPieces(statements, piecesOfJobs(filter), filter.afterId ?? NO_ID, filter.limit ?? null),
  };
}

/** Events as JSON in the port's form. */
export function piecesOfEvents(runId: number, range: Pick<EventRange, "job" | "types">): JsonSource {
  const { from, conditions } = findEvents(DIALECT, runId, range);
  return {
    row: `'{"seq":' || seq || ',"at":' || at || ',"event":' || data || '}'`,
    key: ["seq", "seq"],
    ...selecting("seq, at, data", from, conditions),
  };
}

function piecesOfJobNames(runId: number, step: string | undefined): JsonSource {
  const conditions = new Conditions(DIALECT).demand("run_id = ?", runId).demand("step = ?", step);
  return {
    row: "json_object('id', id, 'step', step, 'scope', scope)",
    key: ["id", "id"],
    ...selecting("id, step, scope", "job", conditions),
  };
}

/** Jobs as JSON. If they are read by run, a page ends as soon as it is full. */
export function piecesOfJobs(filter: JobFilter): JsonSource {
  const { from, conditions, byRun } = findJobs(DIALECT, filter);
  return {
    row: `json_array(${COLUMNS.job})`,
    key: ["id", "job.id"],
    ...selecting(JOB_COLUMNS_BESIDE_RUN, from, conditions),
    ...(byRun ? { order: "run.id, job.id" } : {}),
    atOnce: byRun,
  };
}

function selecting(columns: string, from: string, { where, values }: Conditions) {
  const select = `SELECT ${columns} FROM ${from} ${where === "" ? "WHERE true" : where}`;
  return { select: toText(select), cells: values.map(toCell) as Cell[] };
}
