import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { DraftRow, Store } from "../../store/store.js";
import { iso } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { key, name, source } from "../schemas.js";

export const draftName = name.describe("The workflow's name.");

export const revision = z.coerce.number().int();

const draft = z.object({ name: z.string(), revision: z.number(), updated_at: z.string() });

export const byName = z.strictObject({ name: draftName });

export const saveDraft = operation({
  name: "save_draft",
  summary: "save a workflow text as a draft",
  description:
    "Stores a workflow text under its name, byte for byte, valid or not. No run uses it until it is published. If somebody else has saved since `based_on`, it is refused with DRAFT_CONFLICT.",
  details: "`based_on` is the revision you edited; 0 means that no draft may exist yet.",
  role: "operator",
  effect: "changes",
  keepsAnswer: true,
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
  withoutStore: "new",
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
  withoutStore: "empty",
  handler: async ({ store }) => ({ items: (await store.listDrafts()).map(draftItem) }),
});

export const deleteDraft = operation({
  name: "delete_draft",
  summary: "discard a draft",
  description: "Discards a draft. Versions published from it stay.",
  role: "operator",
  effect: "destroys",
  keepsAnswer: true,
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
