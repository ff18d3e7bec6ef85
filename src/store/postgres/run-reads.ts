import type { JobRow } from "../../core/model/rows.js";
import type { JobFilter } from "../filters.js";
import type { JobName, Store } from "../store.js";
import { JOB_COLUMNS_BESIDE_RUN, TABLES } from "../tables.js";
import { Conditions, type Dialect } from "../verbs/dialect.js";
import { findEvents, findJobs } from "../verbs/run.js";
import { toParameter } from "./cold-verbs.js";
import type { Database } from "./database.js";
import { readStoredEvent, readStoredRow, type StoredEvent, type StoredRow } from "./stored-rows.js";

type RunRead = "readEvents" | "readJobs" | "readJobNames" | "listJobs";

/** Reads that may return very many rows. */
export function createRunReads(db: Database, dialect: Dialect): Pick<Store, RunRead> {
  const list = <Row>(columns: string, from: string, rest: string, { where, values }: Conditions) =>
    db.list<Row>(`SELECT ${columns} FROM ${from} ${where} ${rest}`, ...values.map(toParameter));
  const listJobs = async (filter: JobFilter): Promise<JobRow[]> => {
    const { from, conditions } = findJobs(dialect, filter);
    const rest = `ORDER BY job.id ${conditions.demand("job.id > ?", filter.afterId).limit(filter.limit)}`;
    const found = await list<StoredRow>(JOB_COLUMNS_BESIDE_RUN, from, rest, conditions);
    return found.map((row) => readStoredRow(TABLES.job, row));
  };
  return {
    async readEvents(runId, { afterSeq = 0, limit, ...range } = {}) {
      const { from, conditions } = findEvents(dialect, runId, range);
      const rest = `ORDER BY seq ${conditions.demand("seq > ?", afterSeq).limit(limit)}`;
      const stored = await list<StoredEvent>("seq, at, data", from, rest, conditions);
      return stored.map((event) => readStoredEvent(runId, event));
    },
    readJobs: (runId) => listJobs({ runId }),
    readJobNames: (runId, { afterId, limit, step } = {}) => {
      const conditions = new Conditions(dialect)
        .demand("run_id = ?", runId)
        .demand("step = ?", step)
        .demand("id > ?", afterId);
      return list<JobName>("id, step, scope", "job", `ORDER BY id ${conditions.limit(limit)}`, conditions);
    },
    listJobs,
  };
}
