import type { JobName, Store } from "../store.js";
import { COLUMNS, TABLES } from "../tables.js";
import type { UnansweredJob } from "../unanswered.js";
import { Conditions } from "./conditions.js";
import type { Database } from "./database.js";
import { listJobs, listRuns, UNANSWERED } from "./search-queries.js";
import { readStoredEvent, readStoredRow, type StoredEvent, type StoredRow } from "./stored-rows.js";

type RunRead =
  | "readRun"
  | "listRuns"
  | "readEvents"
  | "readJobs"
  | "readJob"
  | "readJobNames"
  | "listJobs"
  | "listUnanswered"
  | "readAttempts"
  | "readRoutes"
  | "readCheckpoints";

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
        .demand("? = about_job", job)
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
    listUnanswered: (limit) => db.list<UnansweredJob>(UNANSWERED, limit),
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
  };
}
