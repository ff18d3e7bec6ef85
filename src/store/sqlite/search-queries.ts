import { DATE_RANGE } from "../../core/text/iso-time.js";
import type { JobFilter, RunFilter, RunSearch } from "../filters.js";
import { UNFINISHED_RUN_STATUSES } from "../run-rules.js";
import { afterSignatures, firstJobId, runOfJobId, searchesRuns } from "../search-rules.js";
import { COLUMNS, JOB_COLUMNS_BESIDE_RUN } from "../tables.js";
import { ATTEMPT_OF_JOB, UNANSWERED_COLUMNS, UNANSWERED_IN_RUN, type UnansweredJob } from "../unanswered.js";
import type { JsonSource } from "./json-pieces.js";
import type { Cell } from "./sqlite-driver.js";
import { Conditions, type Statements } from "./statements.js";

const FAILED_WITH = "FROM attempt WHERE signature >= ? AND signature < ?";
const FAILED_SAYING = "FROM attempt WHERE signature IS NOT NULL AND instr(search_text, ?) > 0";

const NO_TIME = -DATE_RANGE;

/**
 * To be given the limit as its last cell. Each condition finds numbers of runs in an index of its own, and no more than the page
 * may have; only of the page's runs are rows read, which hold much else.
 */
export function findRuns(filter: RunFilter): { readonly sql: string; readonly cells: readonly Cell[] } {
  const { text, signature, since, until, beforeId } = filter;
  const conditions = new Conditions()
    .demandOneOf("run.status", filter.status)
    .demand("run.workflow = ?", filter.workflow)
    .demand("run.parent_job_id = ?", filter.parentJob)
    .demand("run.parent_job_id >= ?", firstJobId(filter.parentRun))
    .demand("run.parent_job_id < ?", firstJobId(filter.parentRun, 1))
    .demand("run.cause = ?", filter.cause)
    .demandIf(filter.recovered === true, "run.recoveries > 0")
    .demandIf(filter.waiting === true, "run.waiting > 0")
    .demand("run.id < ?", beforeId);
  const among = (column: string, found: string, ...cells: readonly Cell[]): void => {
    const demand = `run.id IN (SELECT ${column} ${found}`;
    if (beforeId === undefined) conditions.demandAll(`${demand})`, ...cells);
    else conditions.demandAll(`${demand} AND ${column} < ?)`, ...cells, beforeId);
  };
  for (const { key, value } of filter.labels ?? []) among("run_id", ...labeled(key, value));
  if (since !== undefined || until !== undefined)
    among("id", "FROM run WHERE created_at >= ? AND created_at < ?", since ?? NO_TIME, until ?? DATE_RANGE);
  if (signature !== undefined) among("run_id", FAILED_WITH, signature, afterSignatures(signature));
  if (text !== undefined)
    conditions.demandAll(
      `run.id IN (SELECT id FROM run WHERE instr(search_text, ?) > 0 UNION ALL SELECT run_id ${FAILED_SAYING})`,
      ...[text, text],
    );
  const { where, cells } = conditions;
  const found = `SELECT run.id FROM run ${where} ORDER BY run.id DESC LIMIT ?`;
  return { sql: `SELECT ${COLUMNS.run} FROM run WHERE id IN (${found}) ORDER BY id DESC`, cells };
}

const UNANSWERED = `
  SELECT ${UNANSWERED_COLUMNS} FROM job INDEXED BY job_unanswered CROSS JOIN run ON run.id = job.run_id ${ATTEMPT_OF_JOB}
  WHERE job.unanswered = 1 AND json_extract(run.options, '$.imported') IS NULL AND ${UNANSWERED_IN_RUN}
  ORDER BY job.id DESC LIMIT ?`;

export function listUnanswered({ rows }: Statements, limit: number): UnansweredJob[] {
  return rows(UNANSWERED, limit).map((cells) => {
    const [
      id,
      run_id,
      workflow,
      definition_hash,
      step,
      scope,
      status,
      dead,
      visit,
      attempt_id,
      signature,
      at,
      due_at,
    ] = cells as readonly unknown[] as UnansweredCells;
    const place = { id, run_id, workflow, definition_hash, step, scope };
    return { ...place, status, dead_letter: dead === 1, visit, attempt_id, signature, at, due_at };
  });
}

type UnansweredCells = readonly [
  ...[id: number, run_id: number, workflow: string, definition_hash: string, step: string, scope: string],
  ...[status: UnansweredJob["status"], dead: number, visit: number, attempt_id: number],
  ...[signature: string | null, at: number, due_at: number | null],
];

export function demandRuns(
  conditions: Conditions,
  { workflow, since, until, labels = [] }: RunSearch,
): Conditions {
  conditions
    .demand("run.workflow = ?", workflow)
    .demand("run.created_at >= ?", since)
    .demand("run.created_at < ?", until);
  for (const { key, value } of labels) {
    const [found, ...cells] = labeled(key, value);
    conditions.demandAll(`run.id IN (SELECT run_id ${found})`, ...cells);
  }
  return conditions;
}

function labeled(key: string, value: string | null): [sql: string, ...cells: Cell[]] {
  const found = "FROM run_label WHERE key = ?";
  return value === null ? [found, key] : [`${found} AND value = ?`, key, value];
}

/**
 * CROSS JOIN keeps SQLite from reading every job there ever was: the runs come first, then the jobs of each. As the ids of jobs
 * begin with their run's, that is their order, too, and a page ends where it is full.
 */
export function findJobs(filter: JobFilter, unfinishedRunsOnly: boolean): JsonSource {
  const { runIds, text, signature, afterId } = filter;
  const needsRun = unfinishedRunsOnly || searchesRuns(filter);
  const conditions = new Conditions()
    .demandOneOf("run.status", unfinishedRunsOnly ? UNFINISHED_RUN_STATUSES : undefined)
    .demand("run.workflow_id = ?", filter.workflowId)
    .demand("job.run_id = ?", filter.runId)
    .demand("job.run_id IN (SELECT value FROM json_each(?))", runIds && JSON.stringify(runIds))
    .demandOneOf("job.status", filter.status)
    .demand("job.step = ?", filter.step)
    .demandIf(filter.deadLetter === true, "job.dead_letter = 1");
  if (needsRun)
    demandRuns(conditions, filter).demand(
      "run.id >= ?",
      afterId === undefined ? undefined : runOfJobId(afterId),
    );
  if (signature !== undefined)
    conditions.demandAll(`job.id IN (SELECT job_id ${FAILED_WITH})`, signature, afterSignatures(signature));
  if (text !== undefined)
    conditions.demandAll(
      `(instr(lower(job.step), ?) > 0 OR job.id IN (SELECT job_id ${FAILED_SAYING}))`,
      ...[text, text],
    );
  const { where, cells } = conditions;
  const from = needsRun ? "run CROSS JOIN job ON job.run_id = run.id" : "job";
  return {
    row: `json_array(${COLUMNS.job})`,
    key: ["id", "job.id"],
    select: `SELECT ${JOB_COLUMNS_BESIDE_RUN} FROM ${from} ${where === "" ? "WHERE true" : where}`,
    ...(needsRun ? { order: "run.id, job.id" } : {}),
    cells,
    atOnce: needsRun,
  };
}
