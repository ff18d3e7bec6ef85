import { z } from "zod";
import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import { type BASH_OR_SH, type Shell, shellText } from "../../core/model/shell.js";
import { InvalidWorkflow } from "../../file/invalid-workflow.js";
import { WORST_CASE, worstCase } from "../../file/lint/worst-case.js";
import type { Problem } from "../../file/read/problem.js";
import type { Survey } from "../../file/survey.js";
import { type Answer, operation } from "../operation.js";
import { fileName, flag, name, problem, recordOf, source } from "../schemas.js";
import { survey } from "./workflow-graph.js";
import { readTextIn } from "./workflow-source.js";

export const checked = z.object({
  ok: z.boolean(),
  name: z.string().nullable(),
  problems: z.array(problem),
  warnings: z.array(problem),
  worst_case: recordOf(WORST_CASE).nullable(),
  shells: z
    .array(z.object({ shell: z.string(), steps: z.array(z.string()) }))
    .describe("Which shell runs the texts of which steps."),
  graph: survey.nullable().optional().describe("With `graph`: as much as can be read; null: nothing."),
});

/** The option of `validate` and `workflow check`. */
const withGraph = flag.optional().describe("Add the graph of what can be read, with its lines.");

export const validateWorkflow = operation({
  name: "validate_workflow",
  summary: "check workflow files: all problems, warnings, worst-case attempts",
  description:
    "Checks a workflow text without running or storing anything. Returns all problems, each with code, line, column, what to do and, if a program can fix it, `fix`; plus warnings and the maximum number of attempts of each step. A workflow with problems is an answer (`ok` is false), not an error.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    source,
    file_name: fileName,
    name: name.optional().describe("The name that the workflow must have."),
    graph: withGraph,
  }),
  output: checked,
  rest: { method: "POST", path: "/workflows/validate" },
  cli: [
    {
      words: "validate",
      positional: [],
      examples: ["daruma validate release.yaml", "daruma validate flows/*.yaml --json"],
    },
  ],
  store: "none",
  handler: (context, { source: text, file_name, name: wanted, graph }) =>
    checkWorkflow(context, text, { file: file_name, name: wanted, surveys: graph }),
});

export type WorkflowCheck = Answer<typeof checked>;

interface CheckOptions {
  readonly file: string;
  /** The name that it must have; by default any. */
  readonly name?: string | undefined;
  readonly surveys?: boolean | undefined;
}

/** Everything that is wrong with a workflow, or could be; nothing is run. */
export async function checkWorkflow(
  context: Parameters<typeof readTextIn>[0],
  source: string,
  { file, name: wanted, surveys = false }: CheckOptions,
): Promise<WorkflowCheck> {
  const drawn = (found: Survey | null | undefined) => (surveys ? { graph: found ?? null } : {});
  try {
    const place = { file, folder: "/", surveys };
    const { definition, warnings, survey: found } = await readTextIn(context, source, place);
    const { name } = definition;
    const problems = wanted === undefined || wanted === name ? [] : [nameProblem(file, wanted, name)];
    const ok = problems.length === 0;
    const said = { worst_case: worstCase(definition), shells: stepShells(definition) };
    return { ok, name, problems, warnings, ...said, ...drawn(found) };
  } catch (error) {
    const found = error instanceof InvalidWorkflow ? error.survey : null;
    const problems = problemsOf(error, file);
    return { ok: false, name: null, problems, warnings: [], worst_case: null, shells: [], ...drawn(found) };
  }
}

function nameProblem(file: string, name: string, own: string): Problem {
  return {
    code: "INVALID_VALUE",
    message: `the draft is named ${name}, but the workflow in it is named ${own}`,
    hint: "Use the same name in both places.",
    file,
    line: 1,
    column: 1,
    path: "name",
  };
}

/** These say nothing of the text. */
const OF_THE_SERVER: readonly ErrorCode[] = ["WORKFLOW_READER_BUSY", "SERVER_STOPPING", "INTERNAL"];

function problemsOf(error: unknown, file: string): readonly Problem[] {
  if (error instanceof InvalidWorkflow) return error.problems;
  if (!(error instanceof DarumaError) || OF_THE_SERVER.includes(error.code)) throw error;
  const { code, message, hint } = error;
  return [{ code, message, hint, file, line: 1, column: 1, path: "" }];
}

/** A shell, and the steps whose texts it runs. */
export interface StepShells {
  readonly shell: string;
  readonly steps: readonly string[];
}

/** The shells in the order of their first use in the file. Steps without shell code are left out. */
function stepShells({ steps }: Definition): StepShells[] {
  const found = new Map<string, string[]>();
  for (const { id, action } of steps) {
    if (action.shell === undefined) continue;
    const shell = shellText(action.shell as Shell | typeof BASH_OR_SH);
    const known = found.get(shell);
    if (known === undefined) found.set(shell, [id]);
    else known.push(id);
  }
  return [...found].map(([shell, ids]) => ({ shell, steps: ids }));
}
