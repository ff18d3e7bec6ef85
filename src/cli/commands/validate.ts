import { DarumaError } from "../../core/errors.js";
import type { Problem } from "../../definition/problem.js";
import { type WorstCase, worstCase } from "../../definition/worst-case.js";
import { InvalidWorkflow, readWorkflow } from "../../operations/workflow-source.js";
import { type Session, writeJson, writeLines } from "../channel.js";
import { EXIT } from "../exit-codes.js";
import { worstCaseLines } from "../render/worst-case-table.js";
import { problemLines } from "../report-error.js";

interface Checked {
  readonly file: string;
  readonly ok: boolean;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly worst_case: WorstCase | null;
}

export async function validate(files: readonly string[], session: Session): Promise<number> {
  const results = files.map(check);
  const ok = results.every((result) => result.ok);
  if (session.options.json) writeJson(session.out, { ok, files: results });
  else for (const result of results) tell(result, session);
  return ok ? EXIT.completed : EXIT.usage;
}

function check(file: string): Checked {
  try {
    const { definition, warnings } = readWorkflow(file);
    return { file, ok: true, problems: [], warnings, worst_case: worstCase(definition) };
  } catch (error) {
    return { file, ok: false, problems: problemsOf(error, file), warnings: [], worst_case: null };
  }
}

function problemsOf(error: unknown, file: string): readonly Problem[] {
  if (error instanceof InvalidWorkflow) return error.problems;
  if (!(error instanceof DarumaError)) throw error;
  const { code, message, hint } = error;
  return [{ code, message, hint, file, line: 1, column: 1, path: "" }];
}

/** Problems are errors and go to stderr; what can be said of a file that is right goes to stdout. */
function tell(result: Checked, { out, err, options }: Session): void {
  if (!result.ok) writeLines(err, problemLines(result.problems, "error", err.paint));
  if (result.warnings.length > 0) writeLines(err, problemLines(result.warnings, "warning", err.paint));
  if (result.worst_case === null || options.quiet) return;
  const steps = result.worst_case.steps.length;
  writeLines(out, [
    `${result.file}: ${out.paint("green", "valid")}, ${steps} step${steps === 1 ? "" : "s"}`,
    ...worstCaseLines(result.worst_case, out.width(), out.paint),
  ]);
}
