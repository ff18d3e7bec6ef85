import type { Definition } from "../core/definition.js";
import { DarumaError } from "../core/errors.js";
import { parseStoredDefinition } from "../core/stored-definition.js";
import { draw } from "../definition/drawing.js";
import type { Store, WorkflowRow } from "../store/store.js";
import { iso } from "./run-report.js";

/** An id that every store can keep. */
const AN_ID = /^\d{1,15}$/;

export function workflowItem({ id, name, version, file, created_at, source }: WorkflowRow) {
  return { id, name, version, file, created_at: iso(created_at), published: source !== null };
}

/** By name, its newest version unless told; else by id. */
export async function storedWorkflow(
  store: Store,
  reference: number | string,
  version?: number,
): Promise<WorkflowRow> {
  const versions = await store.listWorkflows({ name: String(reference) });
  const named = version === undefined ? versions[0] : versions.find((row) => row.version === version);
  if (named !== undefined) return named;
  if (versions.length > 0)
    throw new DarumaError("WORKFLOW_NOT_FOUND", `${reference} has no version ${version}`, {
      hint: `Its newest version is ${versions[0]!.version}.`,
    });
  const byId = AN_ID.test(String(reference)) ? await store.readWorkflow(Number(reference)) : null;
  if (byId === null || (version !== undefined && byId.version !== version))
    throw new DarumaError("WORKFLOW_NOT_FOUND", `there is no stored workflow ${reference}`);
  return byId;
}

export async function storedDefinition(
  store: Store,
  { name, definition_hash }: Pick<WorkflowRow, "name" | "definition_hash">,
): Promise<{ readonly definition: Definition; readonly text: string }> {
  const text = await store.readDefinition(definition_hash);
  if (text === null)
    throw new DarumaError("STORE_FAILED", `the definition of ${name} is missing from the store`);
  return { definition: parseStoredDefinition(text, definition_hash), text };
}

export async function describeWorkflow(store: Store, name: number | string, version?: number) {
  const row = await storedWorkflow(store, name, version);
  const { definition } = await storedDefinition(store, row);
  const versions = await store.listWorkflows({ name: row.name });
  return {
    ...workflowItem(row),
    source: row.source,
    definition,
    graph: draw(definition),
    versions: versions.map(workflowItem),
  };
}

export async function listWorkflowItems(
  store: Store,
  { name, limit, before }: { name?: string | undefined; limit: number; before?: number | undefined },
) {
  const rows = await store.listWorkflows({
    limit,
    ...(name === undefined ? {} : { name }),
    ...(before === undefined ? {} : { beforeId: before }),
  });
  return { items: rows.map(workflowItem), next: rows.length < limit ? null : rows.at(-1)!.id };
}
