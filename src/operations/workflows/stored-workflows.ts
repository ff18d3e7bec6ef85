import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import { draw } from "../../definition/draw/drawing.js";
import { iso } from "../../report/run-report.js";
import type { Store, WorkflowRow } from "../../store/store.js";

/** An id that every store can keep. */
const AN_ID = /^\d{1,15}$/;

export function workflowItem({ id, name, version, file, created_at, source }: WorkflowRow) {
  return { id, name, version, file, created_at: iso(created_at), published: source !== null };
}

/** By name, by default its newest version that was published, or if none was its newest; else by id. */
export async function storedWorkflow(
  store: Store,
  reference: number | string,
  version?: number,
): Promise<WorkflowRow> {
  const found = await findWorkflow(store, reference, version, () => true);
  if (found !== null) return found;
  const newest = newestOf(await store.listWorkflows({ name: String(reference) }));
  if (newest !== undefined)
    throw new DarumaError("WORKFLOW_NOT_FOUND", `${reference} has no version ${version}`, {
      hint: `Its newest version is ${newest.version}.`,
    });
  throw new DarumaError("WORKFLOW_NOT_FOUND", `there is no stored workflow ${reference}`);
}

/** What a run or an import registers is for those runs alone: nobody has said that others may start it by its name. */
export async function publishedWorkflow(
  store: Store,
  reference: number | string,
  version?: number,
): Promise<WorkflowRow> {
  const published = await findWorkflow(store, reference, version, isPublished);
  if (published !== null) return published;
  const stored = await storedWorkflow(store, reference, version);
  throw new DarumaError(
    "WORKFLOW_NOT_PUBLISHED",
    `version ${stored.version} of ${stored.name} was never published`,
  );
}

async function findWorkflow(
  store: Store,
  reference: number | string,
  version: number | undefined,
  isMeant: (row: WorkflowRow) => boolean,
): Promise<WorkflowRow | null> {
  const fits = (row: WorkflowRow): boolean =>
    isMeant(row) && (version === undefined || row.version === version);
  const named = newestOf((await store.listWorkflows({ name: String(reference) })).filter(fits));
  if (named !== undefined) return named;
  const byId = AN_ID.test(String(reference)) ? await store.readWorkflow(Number(reference)) : null;
  return byId !== null && fits(byId) ? byId : null;
}

function newestOf(versions: readonly WorkflowRow[]): WorkflowRow | undefined {
  return versions.find(isPublished) ?? versions[0];
}

function isPublished({ source }: WorkflowRow): boolean {
  return source !== null;
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
