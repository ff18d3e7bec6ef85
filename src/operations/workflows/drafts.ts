import { createHash } from "node:crypto";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { failureHandlersOf } from "../../core/evolve/projections.js";
import { InvalidWorkflow } from "../../file/invalid-workflow.js";
import type { DraftRow, Store, WorkflowRow } from "../../store/store.js";
import { iso } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { scheduleRows, syncSchedules } from "../schedules/schedule-rows.js";
import { key, name, problem, source } from "../schemas.js";
import { storedDefinition } from "./stored-workflows.js";
import { checked, checkWorkflow, type WorkflowCheck } from "./validate-workflow.js";
import type { Workflow } from "./workflow.js";
import { readTextIn } from "./workflow-source.js";

export const draftName = name.describe("The workflow's name.");

const revision = z.coerce.number().int();

const draft = z.object({ name: z.string(), revision: z.number(), updated_at: z.string() });

const byName = z.strictObject({ name: draftName });

export const saveDraft = operation({
  name: "save_draft",
  summary: "save a workflow text as a draft",
  description:
    "Stores a workflow text under its name, byte for byte, valid or not. No run uses it until it is published. If somebody else has saved since `based_on`, it is refused with DRAFT_CONFLICT.",
  details: "`based_on` is the revision you edited; 0 means that no draft may exist yet.",
  role: "operator",
  effect: "changes",
  idempotent: true,
  input: z.strictObject({
    name: draftName,
    source,
    based_on: revision
      .min(0)
      .optional()
      .describe("The revision you edited; by default the draft is replaced whatever its revision."),
    key,
  }),
  output: draft,
  rest: { method: "PUT", path: "/workflows/{name}/draft" },
  cli: [
    {
      words: "workflow save",
      positional: ["name"],
      examples: [
        "daruma workflow save release release.yaml",
        "daruma workflow save release release.yaml --based-on 3",
      ],
    },
  ],
  store: "create",
  handler: save,
});

export const getDraft = operation({
  name: "get_draft",
  summary: "print a draft",
  description: "Returns a draft's text as it was saved, with its revision.",
  role: "viewer",
  effect: "reads",
  input: byName,
  output: draft.extend({ source: z.string() }),
  rest: { method: "GET", path: "/workflows/{name}/draft" },
  cli: [{ words: "workflow draft", positional: ["name"], examples: ["daruma workflow draft release"] }],
  handler: async ({ store }, input) => {
    const found = await requireDraft(store, input.name);
    return { ...draftItem(found), source: found.source };
  },
});

export const listDrafts = operation({
  name: "list_drafts",
  summary: "list drafts",
  description: "Lists the drafts of workflows, each with its revision and when it was saved.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({ items: z.array(draft) }),
  rest: { method: "GET", path: "/drafts" },
  cli: [{ words: "workflow drafts", positional: [], examples: ["daruma workflow drafts"] }],
  store: "optional",
  handler: async ({ store }) => ({ items: (await store.listDrafts()).map(draftItem) }),
});

export const deleteDraft = operation({
  name: "delete_draft",
  summary: "discard a draft",
  description: "Discards a draft. Versions published from it stay.",
  role: "operator",
  effect: "destroys",
  idempotent: true,
  input: byName.extend({ key }),
  output: z.object({ name: z.string() }),
  rest: { method: "DELETE", path: "/workflows/{name}/draft" },
  cli: [{ words: "workflow discard", positional: ["name"], examples: ["daruma workflow discard release"] }],
  handler: (context, input) => removeDraft(context, input.name),
});

interface SaveRequest {
  readonly name: string;
  readonly source: string;
  readonly based_on?: number | undefined;
}

function draftItem({ name, revision, updated_at }: DraftRow) {
  return { name, revision, updated_at: iso(updated_at) };
}

/** The text is kept as it is, right or wrong: a draft is work under way. */
async function save({ store, now }: Context, { name, source, based_on }: SaveRequest) {
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

async function removeDraft({ store }: Context, name: string): Promise<{ name: string }> {
  await requireDraft(store, name);
  await store.deleteDraft(name);
  return { name };
}

export const validateDraft = operation({
  name: "validate_draft",
  summary: "check a draft",
  description:
    "Checks a draft as validate_workflow does, and whether the workflow in it has the draft's name.",
  role: "viewer",
  effect: "reads",
  input: byName,
  output: checked.extend({ name: z.string(), revision: z.number() }),
  rest: { method: "POST", path: "/workflows/{name}/draft/validate" },
  cli: [{ words: "workflow check", positional: ["name"], examples: ["daruma workflow check release"] }],
  handler: (context, input) => checkDraft(context, input.name),
});

async function checkDraft(
  context: Context,
  name: string,
): Promise<WorkflowCheck & { name: string; revision: number }> {
  const { source, revision } = await requireDraft(context.store, name);
  const check = await checkWorkflow(context, source, { file: fileOf(name), name });
  return { ...check, name, revision };
}

export function fileOf(name: string): string {
  return `${name}.yaml`;
}

export const publishWorkflow = operation({
  name: "publish_workflow",
  summary: "publish a draft as the newest version of its workflow",
  description:
    "Publishes the draft as the newest version of its workflow. Runs started by name use it from now on; current runs keep their version. A draft with problems is refused, with a list of them. The draft stays, for further editing.",
  role: "operator",
  effect: "changes",
  idempotent: true,
  input: z.strictObject({
    name: draftName,
    revision: revision.min(1).optional().describe("Only if the draft is still at this revision."),
    key,
  }),
  output: z.object({
    name: z.string(),
    workflow_id: z.number(),
    version: z.number(),
    revision: z.number(),
    warnings: z.array(problem),
  }),
  rest: { method: "POST", path: "/workflows/{name}/publish", status: 201 },
  cli: [
    {
      words: "workflow publish",
      positional: ["name"],
      examples: ["daruma workflow publish release --revision 4"],
    },
  ],
  handler: publish,
});

/** The draft becomes the newest version of the workflow. It stays, to go on from. */
async function publish(
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
  const { ok, problems } = await checkDraft(context, name);
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
  await syncSchedules(scheduleRows(store, context), { name, version }, workflow.definition);
  return {
    name,
    workflow_id: workflowId,
    version,
    revision: draft.revision,
    warnings: workflow.warnings,
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
