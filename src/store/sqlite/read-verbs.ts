import type { JobFilter } from "../filters.js";
import type { EventRange } from "../store.js";
import { COLUMNS, JOB_COLUMNS_BESIDE_RUN } from "../tables.js";
import { Conditions } from "../verbs/dialect.js";
import { findEvents, findJobs } from "../verbs/run.js";
import { createColdReads, DIALECT, toCell, toText } from "./answer-now.js";
import { type JsonSource, readPieces } from "./json-pieces.js";
import { LAST_LEASE_COLUMNS } from "./packed-rows.js";
import { createPlaceReads } from "./place-verbs.js";
import type { ReadVerbs } from "./protocol.js";
import type { Cell, Database } from "./sqlite-driver.js";
import { keepStatements, type Statements } from "./statements.js";
import { createWaitingReads } from "./waiting-verbs.js";

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
    ...createPlaceReads(statements),
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
