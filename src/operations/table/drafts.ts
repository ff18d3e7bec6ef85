import { z } from "zod";
import { operation } from "../operation.js";
import {
  draftItem,
  publishWorkflow,
  removeDraft,
  requireDraft,
  saveDraft,
  validateDraft,
} from "../workflows/drafts.js";
import { name, problem, source } from "./schemas.js";
import { checked } from "./workflows.js";

const draftName = name.describe("The workflow's name.");
const revision = z.coerce.number().int();
const draft = z.object({ name: z.string(), revision: z.number(), updated_at: z.string() });
const byName = z.strictObject({ name: draftName });

export const saveDraftOperation = operation({
  name: "save_draft",
  summary: "save a workflow text as a draft",
  description:
    "Keeps a workflow text under its name, byte for byte, whether it is valid or not; no run uses it until it is published. `based_on` is the revision that was edited: if somebody else has saved since, it is refused with DRAFT_CONFLICT; 0 means that there must be none yet.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({
    name: draftName,
    source,
    based_on: revision
      .min(0)
      .optional()
      .describe("The revision that was edited; by default whatever is there is replaced."),
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
  handler: (context, input) => saveDraft(context, input),
});

export const getDraft = operation({
  name: "get_draft",
  summary: "print a draft",
  description: "A draft's text as it was saved, with its revision.",
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
  summary: "throw a draft away",
  description: "Throws a draft away. What was published from it stays.",
  role: "operator",
  effect: "destroys",
  input: byName,
  output: z.object({ name: z.string() }),
  rest: { method: "DELETE", path: "/workflows/{name}/draft" },
  cli: [{ words: "workflow discard", positional: ["name"], examples: ["daruma workflow discard release"] }],
  handler: (context, input) => removeDraft(context, input.name),
});

export const validateDraftOperation = operation({
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
  handler: async (context, input) => {
    const { problems, warnings, worst_case, ...rest } = await validateDraft(context, input.name);
    return {
      ...rest,
      problems: [...problems],
      warnings: [...warnings],
      worst_case: structuredClone(worst_case) as z.input<typeof checked>["worst_case"],
    };
  },
});

export const publishWorkflowOperation = operation({
  name: "publish_workflow",
  summary: "make a draft the newest version of its workflow",
  description:
    "Makes the draft the newest version of its workflow, with its text; runs started by name use it from now on, runs under way keep theirs. A draft with problems is refused with all of them. The draft stays, to go on from.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({
    name: draftName,
    revision: revision.min(1).optional().describe("Only if the draft is still at this revision."),
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
  handler: (context, input) => publishWorkflow(context, input),
});
