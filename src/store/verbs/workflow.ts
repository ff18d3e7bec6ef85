import type { FailureHandlerRow } from "../../core/model/rows.js";
import type { SharedRow } from "../shared-rows.js";
import type {
  DraftRow,
  NewDraft,
  NewWorkflow,
  RegisteredWorkflow,
  WorkflowFilter,
  WorkflowRow,
} from "../store.js";
import { toStorableText } from "../stored-text.js";
import { TABLES } from "../tables.js";
import { Conditions, type Dialect, row, rowOf, rows, rowsOf, type Verb } from "./dialect.js";
import { dataOf, findShared, writeShared } from "./shared.js";

/** For a name: the newest published version, or else the newest. */
const IS_NEWEST = `NOT EXISTS (
  SELECT 1 FROM workflow AS newer WHERE newer.name = workflow.name
    AND (newer.source IS NOT NULL, newer.version) > (workflow.source IS NOT NULL, workflow.version))`;

type Version = Pick<WorkflowRow, "id" | "version">;

/** The registered workflow; null if it must be registered. Nearly always it exists, because every run asks for it. */
export function* findRegistered(
  _: Dialect,
  { name, hash, source, written }: NewWorkflow,
): Verb<RegisteredWorkflow | null> {
  const found = yield* row<Version & { has_source: unknown; has_written: unknown }>(
    `SELECT id, version, source IS NOT NULL AS has_source, written IS NOT NULL AS has_written
     FROM workflow JOIN definition ON hash = definition_hash WHERE name = $1 AND definition_hash = $2`,
    ...[name, hash],
  );
  const lacks = (given: string | undefined, has: unknown) => given !== undefined && !has;
  if (found === null || lacks(source, found.has_source) || lacks(written, found.has_written)) return null;
  return yield* withHandlers(found);
}

export function* registerWorkflow(dialect: Dialect, workflow: NewWorkflow): Verb<RegisteredWorkflow> {
  const { name, hash, source, written } = workflow;
  const known = yield* row<Version>(
    "SELECT id, version FROM workflow WHERE name = $1 AND definition_hash = $2",
    ...[name, hash],
  );
  const version = known ?? (yield* insertWorkflow(dialect, workflow));
  if (source !== undefined)
    yield* rows("UPDATE workflow SET source = $2 WHERE id = $1 AND source IS NULL", version.id, source);
  if (written !== undefined)
    yield* rows("UPDATE definition SET written = $2 WHERE hash = $1 AND written IS NULL", hash, written);
  return yield* withHandlers(version);
}

function* insertWorkflow(
  _: Dialect,
  { name, hash, definition, file, at, failureHandlers }: NewWorkflow,
): Verb<Version> {
  yield* rows("INSERT INTO definition (hash, json) VALUES ($1, $2) ON CONFLICT DO NOTHING", hash, definition);
  const newest = yield* row<{ version: number | null }>(
    "SELECT max(version) AS version FROM workflow WHERE name = $1",
    name,
  );
  const version = (newest?.version ?? 0) + 1;
  const added = yield* row<{ id: number }>(
    `INSERT INTO workflow (name, version, definition_hash, file, created_at) VALUES ($1, $2, $3, $4, $5) RETURNING id`,
    ...[name, version, hash, file, at],
  );
  const { id } = added!;
  for (const handler of failureHandlers)
    yield* rows(
      "INSERT INTO failure_handler (workflow_id, name, rules) VALUES ($1, $2, $3)",
      ...[id, handler.name, handler.rules],
    );
  return { id, version };
}

function* withHandlers({ id, version }: Version): Verb<RegisteredWorkflow> {
  const sql = "SELECT id, name FROM failure_handler WHERE workflow_id = $1 ORDER BY id";
  const found = yield* rows<RegisteredWorkflow["failureHandlers"][number]>(sql, id);
  return { workflowId: id, version, failureHandlers: [...found] };
}

export function* readDefinition(_: Dialect, hash: string): Verb<string | null> {
  return (yield* row<{ json: string }>("SELECT json FROM definition WHERE hash = $1", hash))?.json ?? null;
}

export function* readWritten(_: Dialect, hash: string): Verb<string | null> {
  const sql = "SELECT written FROM definition WHERE hash = $1";
  return (yield* row<{ written: string | null }>(sql, hash))?.written ?? null;
}

export function* readFailureHandler(_: Dialect, id: number): Verb<FailureHandlerRow | null> {
  return yield* rowOf(TABLES.failure_handler, "WHERE id = $1", id);
}

export function* listFailureHandlers(dialect: Dialect, workflowId?: number): Verb<FailureHandlerRow[]> {
  const { where, values } = new Conditions(dialect).demand("workflow_id = ?", workflowId);
  return yield* rowsOf(TABLES.failure_handler, `${where} ORDER BY id`, ...values);
}

export function* listWorkflows(
  dialect: Dialect,
  { name, limit, beforeId }: WorkflowFilter,
): Verb<WorkflowRow[]> {
  const found = new Conditions(dialect)
    .demand("name = ?", name)
    .demand("id < ?", beforeId)
    .demandIf(name === undefined, IS_NEWEST);
  return yield* rowsOf(
    TABLES.workflow,
    `${found.where} ORDER BY id DESC ${found.limit(limit)}`,
    ...found.values,
  );
}

export function* readWorkflow(_: Dialect, id: number): Verb<WorkflowRow | null> {
  return yield* rowOf(TABLES.workflow, "WHERE id = $1", id);
}

const KIND = "draft";

export function* readDraft(_: Dialect, name: string): Verb<DraftRow | null> {
  const [row] = yield* findShared(KIND, "AND name = $2", name);
  return row === undefined ? null : draftOf(row);
}

export function* listDrafts(): Verb<DraftRow[]> {
  return (yield* findShared(KIND, "ORDER BY name")).map(draftOf);
}

export function* saveDraft(
  dialect: Dialect,
  { name, source, basedOn, at }: NewDraft,
): Verb<{ saved: true; draft: DraftRow } | { saved: false; draft: DraftRow | null }> {
  const present = yield* readDraft(dialect, name);
  const revision = present?.revision ?? 0;
  if (basedOn !== null && basedOn !== revision) return { saved: false, draft: present };
  const kept = { source: toStorableText(source), updated_at: at };
  yield* writeShared(dialect, [{ kind: KIND, name, revision, data: JSON.stringify(kept) }]);
  return { saved: true, draft: { name, revision: revision + 1, ...kept } };
}

export function* deleteDraft(_: Dialect, name: string): Verb<void> {
  yield* rows("DELETE FROM shared WHERE kind = $1 AND name = $2", KIND, name);
}

function draftOf(row: SharedRow): DraftRow {
  const { name, revision } = row;
  return { name, revision, ...(dataOf(row) as Pick<DraftRow, "source" | "updated_at">) };
}
