import { createHash } from "node:crypto";
import { DarumaError } from "../../core/errors/errors.js";
import { failureHandlersOf } from "../../core/evolve/projections.js";
import { InvalidWorkflow } from "../../definition/invalid-workflow.js";
import type { Problem } from "../../definition/read/problem.js";
import { iso } from "../../report/run-report.js";
import type { DraftRow, Store, WorkflowRow } from "../../store/store.js";
import type { Context } from "../context.js";
import { checkWorkflow, type WorkflowCheck } from "./check-workflow.js";
import { storedDefinition } from "./stored-workflows.js";
import { readTextIn, type Workflow } from "./workflow-source.js";

export interface SaveRequest {
  readonly name: string;
  readonly source: string;
  readonly based_on?: number | undefined;
}

export function draftItem({ name, revision, updated_at }: DraftRow) {
  return { name, revision, updated_at: iso(updated_at) };
}

/** The text is kept as it is, right or wrong: a draft is work under way. */
export async function saveDraft({ store, now }: Context, { name, source, based_on }: SaveRequest) {
  const answer = await store.saveDraft({ name, source, basedOn: based_on ?? null, at: now() });
  if (answer.saved) return draftItem(answer.draft);
  const there = answer.draft === null ? "there is none" : `it is at revision ${answer.draft.revision}`;
  throw new DarumaError("DRAFT_CONFLICT", `the draft ${name} is not at revision ${based_on}: ${there}`);
}

export async function requireDraft(store: Store, name: string): Promise<DraftRow> {
  const draft = await store.readDraft(name);
  if (draft === null) throw new DarumaError("DRAFT_NOT_FOUND", `there is no draft ${name}`);
  return draft;
}

export async function removeDraft({ store }: Context, name: string): Promise<{ name: string }> {
  await requireDraft(store, name);
  await store.deleteDraft(name);
  return { name };
}

export async function validateDraft(
  context: Context,
  name: string,
): Promise<WorkflowCheck & { name: string; revision: number }> {
  const { source, revision } = await requireDraft(context.store, name);
  const check = await checkWorkflow(context, source, fileOf(name));
  const wrongName = check.name === null || check.name === name ? [] : [nameProblem(name, check.name)];
  return {
    ...check,
    name,
    revision,
    ok: check.ok && wrongName.length === 0,
    problems: [...check.problems, ...wrongName],
  };
}

/** The draft becomes the newest version of the workflow. It stays, to go on from. */
export async function publishWorkflow(
  context: Context,
  { name, revision }: { name: string; revision?: number | undefined },
) {
  const { store } = context;
  const draft = await requireDraft(store, name);
  if (revision !== undefined && revision !== draft.revision)
    throw new DarumaError(
      "DRAFT_CONFLICT",
      `the draft ${name} is at revision ${draft.revision}, not ${revision}`,
    );
  const { ok, problems } = await validateDraft(context, name);
  if (!ok) throw new InvalidWorkflow(fileOf(name), problems);
  const workflow = await readTextIn(context, draft.source, {
    file: fileOf(name),
    folder: context.outputDir,
  });
  const versions = await store.listWorkflows({ name });
  const registered = await store.registerWorkflow({
    name,
    hash: await hashFor(store, versions, workflow, draft.source),
    definition: workflow.text,
    file: null,
    source: draft.source,
    at: context.now(),
    failureHandlers: failureHandlersOf(workflow.definition),
  });
  const { workflowId, version } = registered;
  return {
    name,
    workflow_id: workflowId,
    version,
    revision: draft.revision,
    warnings: [...workflow.warnings],
  };
}

/**
 * A store knows versions by their hash. What is published must be the newest version, also where the same definition
 * was one before, or only a comment has changed; but publishing the newest version once more is no new one.
 */
async function hashFor(
  store: Store,
  versions: readonly WorkflowRow[],
  { hash, text }: Workflow,
  source: string,
): Promise<string> {
  const newest = versions[0];
  if (newest === undefined) return hash;
  const isSame = (await storedDefinition(store, newest)).text === text;
  if (isSame && (newest.source === null || newest.source === source)) return newest.definition_hash;
  if (versions.every((row) => row.definition_hash !== hash)) return hash;
  return createHash("sha256").update(`${text}\n${source}\n${newest.id}`).digest("hex");
}

function fileOf(name: string): string {
  return `${name}.yaml`;
}

function nameProblem(name: string, own: string): Problem {
  return {
    code: "INVALID_VALUE",
    message: `the draft is called ${name}, the workflow in it calls itself ${own}`,
    hint: "Use the same name in both places.",
    file: fileOf(name),
    line: 1,
    column: 1,
    path: "name",
  };
}
