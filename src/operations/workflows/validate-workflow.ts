import { z } from "zod";
import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import { InvalidWorkflow } from "../../definition/invalid-workflow.js";
import { type WorstCase, worstCase } from "../../definition/lint/worst-case.js";
import type { Problem } from "../../definition/read/problem.js";
import { operation } from "../operation.js";
import { fileName, problem, source } from "../schemas.js";
import { readTextIn } from "./workflow-source.js";

const amount = z.number().nullable();

const worstCaseShape = z.object({
  steps: z.array(z.object({ step: z.string(), path: z.array(z.string()), visits: amount, attempts: amount })),
  attempts: amount,
  per_item: z.array(z.object({ path: z.array(z.string()), attempts: amount })),
  restarts_per_visit: z.number(),
});

export const checked = z.object({
  ok: z.boolean(),
  name: z.string().nullable(),
  problems: z.array(problem),
  warnings: z.array(problem),
  worst_case: worstCaseShape.nullable(),
});

export const validateWorkflow = operation({
  name: "validate_workflow",
  summary: "check workflow files: all problems, warnings, worst-case attempts",
  description:
    "Checks a workflow text without running or storing anything. Returns all problems, each with code, line, column and what to do, plus warnings and the maximum number of attempts of each step. A workflow with problems is an answer (`ok` is false), not an error.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ source, file_name: fileName }),
  output: checked,
  rest: { method: "POST", path: "/workflows/validate" },
  cli: [
    {
      words: "validate",
      positional: [],
      examples: ["daruma validate release.yaml", "daruma validate flows/*.yaml --json"],
    },
  ],
  withoutStore: "empty",
  handler: async (context, { source: text, file_name }) =>
    structuredClone(await checkWorkflow(context, text, file_name)) as z.input<typeof checked>,
});

export interface WorkflowCheck {
  readonly ok: boolean;
  /** Null where it cannot be read. */
  readonly name: string | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly worst_case: WorstCase | null;
}

/** Everything that is wrong with a workflow, or could be; nothing is run. */
export async function checkWorkflow(
  context: Parameters<typeof readTextIn>[0],
  source: string,
  file: string,
): Promise<WorkflowCheck> {
  try {
    const { definition, warnings } = await readTextIn(context, source, { file, folder: "/" });
    return { ok: true, name: definition.name, problems: [], warnings, worst_case: worstCase(definition) };
  } catch (error) {
    return { ok: false, name: null, problems: problemsOf(error, file), warnings: [], worst_case: null };
  }
}

/** These say nothing of the text. */
const OF_THE_SERVER: readonly ErrorCode[] = ["WORKFLOW_READER_BUSY", "SERVER_STOPPING", "INTERNAL"];

function problemsOf(error: unknown, file: string): readonly Problem[] {
  if (error instanceof InvalidWorkflow) return error.problems;
  if (!(error instanceof DarumaError) || OF_THE_SERVER.includes(error.code)) throw error;
  const { code, message, hint } = error;
  return [{ code, message, hint, file, line: 1, column: 1, path: "" }];
}
