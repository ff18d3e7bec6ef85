import type { NewWorkflow, RegisteredWorkflow } from "../store.js";
import type { Statements } from "./statements.js";

export function registerWorkflow(statements: Statements, workflow: NewWorkflow): RegisteredWorkflow {
  const { run, row, rows } = statements;
  const { name, hash, source, written } = workflow;
  const known = row<readonly [number, number]>(
    "SELECT id, version FROM workflow WHERE name = ? AND definition_hash = ?",
    name,
    hash,
  );
  const [workflowId, version] = known ?? insertWorkflow(statements, workflow);
  if (known !== null && source !== undefined) {
    run("UPDATE workflow SET source = ? WHERE id = ? AND source IS NULL", source, workflowId);
  }
  if (written !== undefined)
    run("UPDATE definition SET written = ? WHERE hash = ? AND written IS NULL", written, hash);
  const handlers = rows<readonly [number, string]>(
    "SELECT id, name FROM failure_handler WHERE workflow_id = ? ORDER BY id",
    workflowId,
  );
  return {
    workflowId,
    version,
    failureHandlers: handlers.map(([id, handlerName]) => ({ id, name: handlerName })),
  };
}

function insertWorkflow({ run, row }: Statements, workflow: NewWorkflow): readonly [number, number] {
  const { name, hash, definition, file, at, source } = workflow;
  run("INSERT INTO definition (hash, json) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, definition);
  const newest = row<readonly [number | null]>("SELECT max(version) FROM workflow WHERE name = ?", name);
  const version = (newest?.[0] ?? 0) + 1;
  const { lastInsertRowid: id } = run(
    `INSERT INTO workflow (name, version, definition_hash, file, created_at, source) VALUES (?, ?, ?, ?, ?, ?)`,
    ...[name, version, hash, file, at, source ?? null],
  );
  for (const handler of workflow.failureHandlers) {
    const cells = [id, handler.name, handler.rules];
    run("INSERT INTO failure_handler (workflow_id, name, rules) VALUES (?, ?, ?)", ...cells);
  }
  return [id, version];
}
