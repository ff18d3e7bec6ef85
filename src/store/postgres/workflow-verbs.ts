import type { FailureHandlerRow } from "../../core/model/rows.js";
import type { NewWorkflow, RegisteredWorkflow, Store, WorkflowRow } from "../store.js";
import { COLUMNS } from "../tables.js";
import { refuseMalformedWorkflow } from "../workflow-rules.js";
import { Conditions } from "./conditions.js";
import type { Session } from "./connection-pool.js";
import { type Database, toArrayLiteral } from "./database.js";

type WorkflowVerb =
  | "registerWorkflow"
  | "readDefinition"
  | "readWritten"
  | "readFailureHandler"
  | "listFailureHandlers"
  | "listWorkflows"
  | "readWorkflow";

export function createWorkflowVerbs(db: Database): Pick<Store, WorkflowVerb> {
  const { failure_handler, workflow } = COLUMNS;
  return {
    async registerWorkflow(added) {
      refuseMalformedWorkflow(added);
      return db.work((session) => registerWorkflow(session, added));
    },
    async readDefinition(hash) {
      const [found] = await db.rows<{ json: string }>("SELECT json FROM definition WHERE hash = $1", hash);
      return found?.json ?? null;
    },
    async readWritten(hash) {
      const sql = "SELECT written FROM definition WHERE hash = $1";
      const [found] = await db.rows<{ written: string | null }>(sql, hash);
      return found?.written ?? null;
    },
    async readFailureHandler(id) {
      const sql = `SELECT ${failure_handler} FROM failure_handler WHERE id = $1`;
      return firstOf(await db.rows<FailureHandlerRow>(sql, id));
    },
    async listFailureHandlers(workflowId) {
      const conditions = new Conditions().demand("workflow_id = ?", workflowId);
      const sql = `SELECT ${failure_handler} FROM failure_handler ${conditions.where} ORDER BY id`;
      return plain(await db.list<FailureHandlerRow>(sql, ...conditions.parameters));
    },
    async listWorkflows({ name, limit, beforeId }) {
      const conditions = new Conditions().demand("name = ?", name).demand("id < ?", beforeId);
      if (name === undefined) {
        conditions.require(
          `NOT EXISTS (SELECT FROM workflow AS newer WHERE newer.name = workflow.name AND (newer.source IS NOT NULL, newer.version) > (workflow.source IS NOT NULL, workflow.version))`,
        );
      }
      const sql = `SELECT ${workflow} FROM workflow ${conditions.where} ORDER BY id DESC ${conditions.limit(limit)}`;
      return plain(await db.list<WorkflowRow>(sql, ...conditions.parameters));
    },
    readWorkflow: async (id) =>
      firstOf(await db.rows<WorkflowRow>(`SELECT ${workflow} FROM workflow WHERE id = $1`, id)),
  };
}

async function registerWorkflow(session: Session, workflow: NewWorkflow): Promise<RegisteredWorkflow> {
  const { name, hash, definition, file, at, source, written, failureHandlers } = workflow;
  const [registered] = await session.rows<{ id: number }>(
    "SELECT register_workflow($1, $2, $3, $4, $5, $6, $7, $8) AS id",
    ...[name, hash, definition, file, at, source ?? null],
    toArrayLiteral(failureHandlers.map((handler) => handler.name)),
    toArrayLiteral(failureHandlers.map(({ rules }) => rules)),
  );
  const workflowId = registered?.id ?? 0;
  if (written !== undefined) {
    const sql = "UPDATE definition SET written = $2 WHERE hash = $1 AND written IS NULL";
    await session.rows(sql, hash, written);
  }
  const handlers = await session.rows<{ version: number; id: number | null; name: string | null }>(
    `SELECT workflow.version, failure_handler.id, failure_handler.name
     FROM workflow LEFT JOIN failure_handler ON failure_handler.workflow_id = workflow.id
     WHERE workflow.id = $1 ORDER BY failure_handler.id`,
    workflowId,
  );
  return {
    workflowId,
    version: handlers[0]?.version ?? 0,
    failureHandlers: handlers.flatMap(({ id, name: handlerName }) =>
      id === null || handlerName === null ? [] : { id, name: handlerName },
    ),
  };
}

/** The driver's rows are of a class of their own. */
function plain<Row extends object>(rows: readonly Row[]): Row[] {
  return rows.map((row) => ({ ...row }));
}

function firstOf<Row extends object>([row]: readonly Row[]): Row | null {
  return row === undefined ? null : { ...row };
}
