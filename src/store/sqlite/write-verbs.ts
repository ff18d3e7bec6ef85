import { givesWay } from "../lease-rules.js";
import type { LeaseRequest, NewInboxCommand, NewWorkflow, RegisteredWorkflow } from "../store.js";
import { CommitWriter } from "./commit-writer.js";
import { type Cells, unpackLease } from "./packed-rows.js";
import type { WriteVerbs } from "./protocol.js";
import type { Cell, Database, Statement } from "./sqlite-driver.js";

/** The verbs that write, each within a transaction that the caller opened. */
export function createWriteVerbs(db: Database): WriteVerbs {
  const statement = keepStatements(db);
  const writer = new CommitWriter(db);
  const run = (sql: string, ...cells: Cell[]) => statement(sql).run(...cells);
  const get = <Row>(sql: string, ...cells: Cell[]) => statement(sql).get(...cells) as Row | undefined;
  const all = <Row>(sql: string, ...cells: Cell[]) => statement(sql).all(...cells) as Row[];
  return {
    registerWorkflow: (workflow) => registerWorkflow(workflow, run, get, all),
    reserveRunId: () =>
      get<{ value: number }>("UPDATE counter SET value = value + 1 WHERE name = 'run' RETURNING value")
        ?.value ?? 0,
    commit: (appends) => {
      for (const append of appends) writer.write(append);
      return null;
    },
    acquireLease: (request) => acquireLease(request, run, get),
    renewLease: (runId, fence, expiresAt) =>
      run(
        "UPDATE lease SET expires_at = ? WHERE run_id = ? AND fence = ? AND owner IS NOT NULL",
        ...[expiresAt, runId, fence],
      ).changes === 1,
    releaseLease: (runId, fence) => {
      // The row stays: the next owner's token must be higher than this one.
      run("UPDATE lease SET owner = NULL WHERE run_id = ? AND fence = ?", runId, fence);
      return null;
    },
    sendCommand: (command) => sendCommand(command, run, get),
    answerCommand: (id, answer) => {
      run("UPDATE inbox SET answer = ? WHERE id = ? AND answer IS NULL", answer, id);
      return null;
    },
  };
}

type Run = (sql: string, ...cells: Cell[]) => { changes: number; lastInsertRowid: number | bigint };
type Get = <Row>(sql: string, ...cells: Cell[]) => Row | undefined;
type All = <Row>(sql: string, ...cells: Cell[]) => Row[];

function registerWorkflow(workflow: NewWorkflow, run: Run, get: Get, all: All): RegisteredWorkflow {
  const known = get<{ id: number; version: number }>(
    "SELECT id, version FROM workflow WHERE name = ? AND definition_hash = ?",
    ...[workflow.name, workflow.hash],
  );
  const { id: workflowId, version } = known ?? insertWorkflow(workflow, run, get);
  const handlers = all<{ id: number; name: string }>(
    "SELECT id, name FROM failure_handler WHERE workflow_id = ? ORDER BY id",
    workflowId,
  );
  return { workflowId, version, failureHandlers: handlers.map(({ id, name }) => ({ id, name })) };
}

function insertWorkflow(workflow: NewWorkflow, run: Run, get: Get): { id: number; version: number } {
  const { name, hash, definition, file, at } = workflow;
  run("INSERT INTO definition (hash, json) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, definition);
  const newest = get<{ version: number | null }>(
    "SELECT max(version) AS version FROM workflow WHERE name = ?",
    name,
  );
  const version = (newest?.version ?? 0) + 1;
  const { lastInsertRowid } = run(
    "INSERT INTO workflow (name, version, definition_hash, file, created_at) VALUES (?, ?, ?, ?, ?)",
    ...[name, version, hash, file, at],
  );
  const id = Number(lastInsertRowid);
  for (const handler of workflow.failureHandlers) {
    const cells = [id, handler.name, handler.rules];
    run("INSERT INTO failure_handler (workflow_id, name, rules) VALUES (?, ?, ?)", ...cells);
  }
  return { id, version };
}

function acquireLease(request: LeaseRequest, run: Run, get: Get): number | Cells {
  const { runId, owner, expiresAt } = request;
  const row = get<{ fence: number; owner: string | null; expires_at: number }>(
    "SELECT fence, owner, expires_at FROM lease WHERE run_id = ?",
    runId,
  );
  const packed = row === undefined ? null : [row.fence, row.owner, row.expires_at];
  if (packed !== null && !givesWay(unpackLease(packed), request)) return packed;
  const fence = (row?.fence ?? 0) + 1;
  run(
    `INSERT INTO lease (run_id, fence, owner, expires_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (run_id) DO UPDATE SET fence = excluded.fence, owner = excluded.owner, expires_at = excluded.expires_at`,
    ...[runId, fence, JSON.stringify(owner), expiresAt],
  );
  return fence;
}

function sendCommand({ runId, key, command, at }: NewInboxCommand, run: Run, get: Get): number {
  const there = get<{ id: number }>("SELECT id FROM inbox WHERE run_id = ? AND key = ?", runId, key);
  if (there !== undefined) return there.id;
  const sent = run(
    "INSERT INTO inbox (run_id, key, command, at) VALUES (?, ?, ?, ?)",
    runId,
    key,
    command,
    at,
  );
  return Number(sent.lastInsertRowid);
}

function keepStatements(db: Database): (sql: string) => Statement {
  const kept = new Map<string, Statement>();
  return (sql) => {
    let statement = kept.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      kept.set(sql, statement);
    }
    return statement;
  };
}
