import { z } from "zod";
import type { Problem } from "../../definition/read/problem.js";
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
  handler: async (context, input) => {
    const { problems, warnings, worst_case, ...rest } = await checkDraft(context, input.name);
    return {
      ...rest,
      problems: [...problems],
      warnings: [...warnings],
      worst_case: structuredClone(worst_case) as z.input<typeof checked>["worst_case"],
    };
  },
});

export async function checkDraft(
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

export function fileOf(name: string): string {
  return `${name}.yaml`;
}

function nameProblem(name: string, own: string): Problem {
  return {
    code: "INVALID_VALUE",
    message: `the draft is named ${name}, but the workflow in it is named ${own}`,
    hint: "Use the same name in both places.",
    file: fileOf(name),
    line: 1,
    column: 1,
    path: "name",
  };
}
