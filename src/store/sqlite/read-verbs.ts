import type { InboxCommand } from "../store.js";
import { type Cells, COLUMNS, LOGGED_EVENT_COLUMNS } from "./packed-rows.js";
import type { ReadVerbs } from "./protocol.js";
import type { Cell, Database, Statement } from "./sqlite-driver.js";

const NO_LIMIT = -1;

/** The verbs that only read. Their statements are prepared when they are first needed, and kept. */
export function createReadVerbs(db: Database): ReadVerbs {
  const rows = (sql: string) => {
    let statement: Statement | null = null;
    return (...cells: Cell[]): Cells[] => {
      if (statement === null) {
        statement = db.prepare(sql);
        statement.setReturnArrays(true);
      }
      return statement.all(...cells) as Cells[];
    };
  };
  const definition = rows("SELECT json FROM definition WHERE hash = ?");
  const handler = rows(`SELECT ${COLUMNS.failure_handler} FROM failure_handler WHERE id = ?`);
  const handlers = rows(
    `SELECT ${COLUMNS.failure_handler} FROM failure_handler WHERE ?1 IS NULL OR workflow_id = ?1 ORDER BY id`,
  );
  const run = rows(`SELECT ${COLUMNS.run} FROM run WHERE id = ?`);
  const events = rows(
    `SELECT ${LOGGED_EVENT_COLUMNS} FROM event WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
  );
  const jobs = rows(`SELECT ${COLUMNS.job} FROM job WHERE run_id = ? ORDER BY id`);
  const attempts = rows(`SELECT ${COLUMNS.attempt} FROM attempt WHERE run_id = ? ORDER BY job_id, attempt`);
  const routes = rows(`SELECT ${COLUMNS.route} FROM route WHERE run_id = ? ORDER BY seq, rowid`);
  const lease = rows("SELECT fence, owner, expires_at FROM lease WHERE run_id = ?");
  const inbox = rows(
    `SELECT id, run_id, command FROM inbox
     WHERE answer IS NULL AND run_id IN (SELECT value FROM json_each(?)) ORDER BY id`,
  );
  const answer = rows("SELECT answer FROM inbox WHERE id = ?");
  return {
    readDefinition: (hash) => (definition(hash)[0]?.[0] ?? null) as string | null,
    readFailureHandler: (id) => handler(id)[0] ?? null,
    listFailureHandlers: (workflowId) => handlers(workflowId).flat(),
    readRun: (runId) => run(runId)[0] ?? null,
    listRuns: (filter) => {
      const conditions: string[] = [];
      const cells: Cell[] = [];
      const demand = (condition: string, cell: Cell | undefined) => {
        if (cell === undefined) return;
        conditions.push(condition);
        cells.push(cell);
      };
      demand("status IN (SELECT value FROM json_each(?))", filter.status && JSON.stringify(filter.status));
      demand("workflow = ?", filter.workflow);
      demand("parent_job_id = ?", filter.parentJob);
      demand("id < ?", filter.beforeId);
      const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
      const list = rows(`SELECT ${COLUMNS.run} FROM run${where} ORDER BY id DESC LIMIT ?`);
      return list(...cells, filter.limit ?? NO_LIMIT).flat();
    },
    readEvents: (runId, afterSeq, limit) => events(runId, afterSeq, limit ?? NO_LIMIT).flat(),
    readJobs: (runId) => jobs(runId).flat(),
    readAttempts: (runId) => attempts(runId).flat(),
    readRoutes: (runId) => routes(runId).flat(),
    readLease: (runId) => lease(runId)[0] ?? null,
    readInbox: (runIds) =>
      inbox(JSON.stringify(runIds)).map(([id, runId, command]) => ({ id, runId, command }) as InboxCommand),
    readAnswer: (id) => (answer(id)[0]?.[0] ?? null) as string | null,
  };
}
