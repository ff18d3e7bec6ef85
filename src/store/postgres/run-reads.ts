import { asksForUnfinishedRunsOnly } from "../job-rules.js";
import { UNFINISHED_RUN_STATUSES } from "../run-rules.js";
import type { JobFilter, JobName, RunFilter, Store } from "../store.js";
import { COLUMNS, JOB_COLUMNS_BESIDE_RUN, TABLES } from "../tables.js";
import { Conditions } from "./conditions.js";
import type { Database } from "./database.js";
import { EVENT_JOB } from "./schema.js";
import { createSnapshotVerbs } from "./snapshot-verbs.js";
import { readStoredEvent, readStoredRow, type StoredEvent, type StoredRow } from "./stored-rows.js";

type RunRead =
  | "readRun"
  | "listRuns"
  | "readEvents"
  | "readJobs"
  | "readJob"
  | "readJobNames"
  | "listJobs"
  | "readAttempts"
  | "readRoutes"
  | "readCheckpoints"
  | "putPatch"
  | "readPatch"
  | "putSnapshot"
  | "readSnapshot";

export function createRunReads(db: Database): Pick<Store, RunRead> {
  return {
    async readRun(runId) {
      const [run] = await db.rows<StoredRow>(`SELECT ${COLUMNS.run} FROM run WHERE id = $1`, runId);
      return run === undefined ? null : readStoredRow(TABLES.run, run);
    },
    listRuns: (filter) => listRuns(db, filter),
    async readEvents(runId, { afterSeq = 0, limit, job, types } = {}) {
      const conditions = new Conditions()
        .demand("run_id = ?", runId)
        .demand("seq > ?", afterSeq)
        .demand(`? = ${EVENT_JOB}`, job)
        .demandOneOf("type", types);
      const sql = `SELECT seq, at, data FROM event ${conditions.where} ORDER BY seq ${conditions.limit(limit)}`;
      const stored = await db.list<StoredEvent>(sql, ...conditions.parameters);
      return stored.map((event) => readStoredEvent(runId, event));
    },
    readJobs: (runId) => listJobs(db, { runId }),
    async readJob(id) {
      const [job] = await db.rows<StoredRow>(`SELECT ${COLUMNS.job} FROM job WHERE id = $1`, id);
      return job === undefined ? null : readStoredRow(TABLES.job, job);
    },
    readJobNames: (runId, { afterId, limit, step } = {}) => {
      const conditions = new Conditions()
        .demand("run_id = ?", runId)
        .demand("step = ?", step)
        .demand("id > ?", afterId);
      const sql = `SELECT id, step, scope FROM job ${conditions.where} ORDER BY id ${conditions.limit(limit)}`;
      return db.list<JobName>(sql, ...conditions.parameters);
    },
    listJobs: (filter) => listJobs(db, filter),
    async readAttempts(runId, jobId) {
      const ofJob = jobId === undefined ? "" : " AND job_id = $2";
      const sql = `SELECT ${COLUMNS.attempt} FROM attempt WHERE run_id = $1${ofJob} ORDER BY job_id, attempt`;
      const found = await db.list<StoredRow>(sql, ...(jobId === undefined ? [runId] : [runId, jobId]));
      return found.map((row) => readStoredRow(TABLES.attempt, row));
    },
    async readRoutes(runId) {
      const sql = `SELECT ${COLUMNS.route} FROM route WHERE run_id = $1 ORDER BY seq, place`;
      return (await db.list<StoredRow>(sql, runId)).map((row) => readStoredRow(TABLES.route, row));
    },
    async readCheckpoints(runId) {
      const sql = `SELECT ${COLUMNS.checkpoint} FROM checkpoint WHERE run_id = $1 ORDER BY ordinal`;
      return (await db.list<StoredRow>(sql, runId)).map((row) => readStoredRow(TABLES.checkpoint, row));
    },
    ...createPatchVerbs(db),
    ...createSnapshotVerbs(db),
  };
}

/** As text on the way: the driver knows no bytes here. */
function createPatchVerbs(db: Database): Pick<Store, "putPatch" | "readPatch"> {
  return {
    async putPatch({ runId, diffHash, bytes }) {
      await db.rows(
        `INSERT INTO patch (run_id, diff_hash, bytes) VALUES ($1, $2, decode($3, 'base64')) ON CONFLICT DO NOTHING`,
        ...[runId, diffHash, Buffer.from(bytes).toString("base64")],
      );
    },
    async readPatch(runId, diffHash) {
      const [found] = await db.list<{ bytes: string }>(
        "SELECT encode(bytes, 'base64') AS bytes FROM patch WHERE run_id = $1 AND diff_hash = $2",
        ...[runId, diffHash],
      );
      return found === undefined ? null : Uint8Array.from(Buffer.from(found.bytes, "base64"));
    },
  };
}

async function listRuns(db: Database, filter: RunFilter) {
  const conditions = new Conditions()
    .demandOneOf("status", filter.status)
    .demand("workflow = ?", filter.workflow)
    .demand("parent_job_id = ?", filter.parentJob)
    .demand("cause = ?", filter.cause)
    .demand("id < ?", filter.beforeId);
  const sql = `SELECT ${COLUMNS.run} FROM run ${conditions.where} ORDER BY id DESC ${conditions.limit(filter.limit)}`;
  return (await db.list<StoredRow>(sql, ...conditions.parameters)).map((row) =>
    readStoredRow(TABLES.run, row),
  );
}

async function listJobs(db: Database, filter: JobFilter) {
  const unfinishedRunsOnly = asksForUnfinishedRunsOnly(filter);
  const conditions = new Conditions()
    .demandOneOf("run.status", unfinishedRunsOnly ? UNFINISHED_RUN_STATUSES : undefined)
    .demand("run.workflow_id = ?", filter.workflowId)
    .demand("job.run_id = ?", filter.runId)
    .demandOneOf("job.status", filter.status)
    .demand("job.step = ?", filter.step)
    .demand("job.id > ?", filter.afterId);
  if (filter.deadLetter === true) conditions.require("job.dead_letter");
  const needsRun = unfinishedRunsOnly || filter.workflowId !== undefined;
  const from = needsRun ? "run JOIN job ON job.run_id = run.id" : "job";
  const sql = `SELECT ${JOB_COLUMNS_BESIDE_RUN} FROM ${from} ${conditions.where} ORDER BY job.id ${conditions.limit(filter.limit)}`;
  return (await db.list<StoredRow>(sql, ...conditions.parameters)).map((row) =>
    readStoredRow(TABLES.job, row),
  );
}
