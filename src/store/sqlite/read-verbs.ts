import type { RunFilter } from "../filters.js";
import type { EventRange } from "../store.js";
import { COLUMNS } from "../tables.js";
import { createColdReads } from "./answer-now.js";
import { type JsonSource, readPieces } from "./json-pieces.js";
import { type Cells, LAST_LEASE_COLUMNS } from "./packed-rows.js";
import { createPlaceReads } from "./place-verbs.js";
import type { ReadVerbs } from "./protocol.js";
import { EVENT_JOB } from "./schema.js";
import { findJobs, findRuns, listUnanswered } from "./search-queries.js";
import type { Database } from "./sqlite-driver.js";
import { Conditions, keepStatements, type Statements } from "./statements.js";
import { createWaitingReads } from "./waiting-verbs.js";

const NO_LIMIT = -1;
/** Smaller than every id that anybody gives. */
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

type RunRead =
  | "readRun"
  | "listRuns"
  | "readEvents"
  | "readJob"
  | "readJobNames"
  | "listJobs"
  | "listUnanswered"
  | "readAttempts";
type RunPartRead = "readRoutes" | "readCheckpoints";

function createRunReads(statements: Statements): Pick<ReadVerbs, RunRead | RunPartRead> {
  const { row, rows } = statements;
  return {
    readRun: (runId) => row(`SELECT ${COLUMNS.run} FROM run WHERE id = ?`, runId),
    listRuns: (filter) => listRuns(statements, filter),
    readEvents: (runId, range) =>
      readPieces(statements, findEvents(runId, range), range.afterSeq ?? 0, range.limit ?? null),
    readJob: (id) => row(`SELECT ${COLUMNS.job} FROM job WHERE id = ?`, id),
    readJobNames: (runId, { afterId, limit, step }) =>
      readPieces(statements, findJobNames(runId, step), afterId ?? 0, limit ?? null),
    listJobs: (filter, unfinishedRunsOnly) =>
      readPieces(
        statements,
        findJobs(filter, unfinishedRunsOnly),
        filter.afterId ?? NO_ID,
        filter.limit ?? null,
      ),
    listUnanswered: (limit) => listUnanswered(statements, limit),
    readAttempts: (runId, jobId) =>
      rows(
        `SELECT ${COLUMNS.attempt} FROM attempt WHERE run_id = ?${jobId === null ? "" : " AND job_id = ?"} ORDER BY job_id, attempt`,
        ...[runId, ...(jobId === null ? [] : [jobId])],
      ).flat(),
    readRoutes: (runId) =>
      rows(`SELECT ${COLUMNS.route} FROM route WHERE run_id = ? ORDER BY seq, rowid`, runId).flat(),
    readCheckpoints: (runId) =>
      rows(`SELECT ${COLUMNS.checkpoint} FROM checkpoint WHERE run_id = ? ORDER BY ordinal`, runId).flat(),
  };
}

function listRuns({ rows }: Statements, filter: RunFilter): Cells {
  const { sql, cells } = findRuns(filter);
  return rows(sql, ...cells, filter.limit ?? NO_LIMIT).flat();
}

/** In JSON as the port has them. */
export function findEvents(runId: number, { job, types }: Pick<EventRange, "job" | "types">): JsonSource {
  const { where, cells } = new Conditions()
    .demand("run_id = ?", runId)
    .demand(`${EVENT_JOB} = ?`, job)
    .demandOneOf("type", types);
  // SQLite takes the whole log of the run for as good a way.
  const by = job === undefined ? "" : "INDEXED BY event_by_job";
  return {
    row: `'{"seq":' || seq || ',"at":' || at || ',"event":' || data || '}'`,
    key: ["seq", "seq"],
    select: `SELECT seq, at, data FROM event ${by} ${where}`,
    cells,
  };
}

function findJobNames(runId: number, step: string | undefined): JsonSource {
  return {
    row: "json_object('id', id, 'step', step, 'scope', scope)",
    key: ["id", "id"],
    select: `SELECT id, step, scope FROM job WHERE run_id = ?${step === undefined ? "" : " AND step = ?"}`,
    cells: step === undefined ? [runId] : [runId, step],
  };
}
