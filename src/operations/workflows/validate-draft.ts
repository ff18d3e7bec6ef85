import { z } from "zod";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { byName, requireDraft } from "./drafts.js";
import { checked, checkWorkflow, type WorkflowCheck } from "./validate-workflow.js";

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

export async function checkDraft(
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
