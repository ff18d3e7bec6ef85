import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import { InvalidWorkflow } from "../../definition/invalid-workflow.js";
import { type WorstCase, worstCase } from "../../definition/lint/worst-case.js";
import type { Problem } from "../../definition/read/problem.js";
import { readTextIn } from "./workflow-source.js";

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
