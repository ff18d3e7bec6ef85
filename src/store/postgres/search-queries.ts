import type { JobRow, RunRow } from "../../core/model/rows.js";
import type { JobFilter, RunFilter, RunSearch } from "../filters.js";
import { asksForUnfinishedRunsOnly } from "../job-rules.js";
import { UNFINISHED_RUN_STATUSES } from "../run-rules.js";
import { afterSignatures, firstJobId, runOfJobId, searchesRuns } from "../search-rules.js";
import { COLUMNS, JOB_COLUMNS_BESIDE_RUN, TABLES } from "../tables.js";
import { ATTEMPT_OF_JOB, UNANSWERED_COLUMNS, UNANSWERED_IN_RUN } from "../unanswered.js";
import { Conditions } from "./conditions.js";
import { type Database, toArrayLiteral } from "./database.js";
import { readStoredRow, type StoredRow } from "./stored-rows.js";

const FAILED_WITH = "FROM attempt WHERE signature >= ? AND signature < ?";
const FAILED_SAYING = "FROM attempt WHERE signature IS NOT NULL AND strpos(search_text, ?) > 0";

export const UNANSWERED = `
  SELECT ${UNANSWERED_COLUMNS} FROM job JOIN run ON run.id = job.run_id ${ATTEMPT_OF_JOB}
  WHERE job.unanswered AND run.options NOT LIKE '%"imported":true%' AND ${UNANSWERED_IN_RUN}
  ORDER BY job.id DESC LIMIT $1`;

export async function listRuns(db: Database, filter: RunFilter): Promise<RunRow[]> {
  const conditions = demandRuns(new Conditions().demandOneOf("run.status", filter.status), filter)
    .demand("run.parent_job_id = ?", filter.parentJob)
    .demand("run.parent_job_id >= ?", firstJobId(filter.parentRun))
    .demand("run.parent_job_id < ?", firstJobId(filter.parentRun, 1))
    .demand("run.cause = ?", filter.cause)
    .demand("run.id < ?", filter.beforeId);
  if (filter.recovered === true) conditions.require("run.recoveries > 0");
  if (filter.waiting === true) conditions.require("run.waiting > 0");
  const { text, signature } = filter;
  if (signature !== undefined)
    conditions.demandAll(`run.id IN (SELECT run_id ${FAILED_WITH})`, signature, afterSignatures(signature));
  if (text !== undefined)
    conditions.demandAll(
      `run.id IN (SELECT id FROM run WHERE strpos(search_text, ?) > 0 UNION ALL SELECT run_id ${FAILED_SAYING})`,
      ...[text, text],
    );
  const sql = `SELECT ${COLUMNS.run} FROM run ${conditions.where} ORDER BY id DESC ${conditions.limit(filter.limit)}`;
  const found = await db.list<StoredRow>(sql, ...conditions.parameters);
  return found.map((row) => readStoredRow(TABLES.run, row));
}

export function demandRuns(
  conditions: Conditions,
  { workflow, since, until, labels = [] }: RunSearch,
): Conditions {
  conditions
    .demand("run.workflow = ?", workflow)
    .demand("run.created_at >= ?", since)
    .demand("run.created_at < ?", until);
  for (const { key, value } of labels) {
    const named = "run.id IN (SELECT run_id FROM run_label WHERE key = ?";
    if (value === null) conditions.demandAll(`${named})`, key);
    else conditions.demandAll(`${named} AND value = ?)`, key, value);
  }
  return conditions;
}

export async function listJobs(db: Database, filter: JobFilter): Promise<JobRow[]> {
  const { runIds, text, signature, afterId } = filter;
  const unfinishedRunsOnly = asksForUnfinishedRunsOnly(filter);
  const needsRun = unfinishedRunsOnly || searchesRuns(filter);
  const conditions = new Conditions()
    .demandOneOf("run.status", unfinishedRunsOnly ? UNFINISHED_RUN_STATUSES : undefined)
    .demand("run.workflow_id = ?", filter.workflowId)
    .demand("job.run_id = ?", filter.runId)
    .demand("job.run_id = ANY (?::bigint[])", runIds && toArrayLiteral(runIds))
    .demandOneOf("job.status", filter.status)
    .demand("job.step = ?", filter.step)
    .demand("job.id > ?", afterId);
  if (filter.deadLetter === true) conditions.require("job.dead_letter");
  if (needsRun)
    demandRuns(conditions, filter).demand(
      "run.id >= ?",
      afterId === undefined ? undefined : runOfJobId(afterId),
    );
  if (signature !== undefined)
    conditions.demandAll(`job.id IN (SELECT job_id ${FAILED_WITH})`, signature, afterSignatures(signature));
  if (text !== undefined)
    conditions.demandAll(
      `(strpos(lower(job.step COLLATE "C"), ?) > 0 OR job.id IN (SELECT job_id ${FAILED_SAYING}))`,
      ...[text, text],
    );
  const from = needsRun ? "run JOIN job ON job.run_id = run.id" : "job";
  const sql = `SELECT ${JOB_COLUMNS_BESIDE_RUN} FROM ${from} ${conditions.where} ORDER BY job.id ${conditions.limit(filter.limit)}`;
  const found = await db.list<StoredRow>(sql, ...conditions.parameters);
  return found.map((row) => readStoredRow(TABLES.job, row));
}
