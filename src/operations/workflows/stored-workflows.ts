import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import type { RunRow } from "../../core/model/rows.js";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import type { Store, WorkflowRow } from "../../store/store.js";

/** An id that every store can keep. */
const AN_ID = /^\d{1,15}$/;

/** A workflow by name (its newest published version, or else its newest) or by id. */
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

/** The text that a version was published from, or that the run that registered it was started with; null: none was kept. */
export async function textOfWorkflow(
  store: Store,
  { source, definition_hash }: Pick<WorkflowRow, "source" | "definition_hash">,
): Promise<string | null> {
  return source ?? store.readWritten(definition_hash);
}

export async function textOfRun(store: Store, run: Pick<RunRow, "workflow_id" | "definition_hash">) {
  const row = await store.readWorkflow(run.workflow_id);
  return textOfWorkflow(store, { ...run, source: row?.source ?? null });
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
