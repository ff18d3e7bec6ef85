import { DarumaError } from "../../../core/errors/errors.js";
import type { WorstCase } from "../../../file/lint/worst-case.js";
import type { Problem } from "../../../file/read/problem.js";
import type { Client } from "../../../operations/client.js";
import type { StepShells } from "../../../operations/workflows/step-shells.js";
import { readSource } from "../../../operations/workflows/workflow-source.js";
import type { Present } from "../../declare/presenter.js";
import { shellLines } from "../../render/shell-lines.js";
import { worstCaseLines } from "../../render/worst-case-table.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { problemLines } from "../../terminal/report-error.js";

interface Checked {
  readonly file: string;
  readonly ok: boolean;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly worst_case: WorstCase | null;
  readonly shells: readonly StepShells[];
}

export const validate: Present = async ({ args }, session, client) => {
  const results: Checked[] = [];
  for (const file of args[0] as readonly string[]) results.push(await check(file, client));
  const ok = results.every((result) => result.ok);
  if (session.options.json) writeJson(session.out, { ok, files: results });
  else for (const result of results) tellCheck(result, session);
  return ok ? EXIT.completed : EXIT.usage;
};

async function check(file: string, client: Client): Promise<Checked> {
  let source: string;
  try {
    source = readSource(file);
  } catch (error) {
    if (!(error instanceof DarumaError)) throw error;
    const { code, message, hint } = error;
    const problem = { code, message, hint, file, line: 1, column: 1, path: "" };
    return { file, ok: false, problems: [problem], warnings: [], worst_case: null, shells: [] };
  }
  const { name: _name, ...checked } = await client.call("validate_workflow", { source, file_name: file });
  return { file, ...checked } as Checked;
}

/** Prints problems, which are errors, to stderr. What describes a valid file goes to stdout. */
export function tellCheck(result: Checked, { out, err, options }: Session): void {
  if (!result.ok) writeLines(err, problemLines(result.problems, "error", err.paint));
  if (result.warnings.length > 0) writeLines(err, problemLines(result.warnings, "warning", err.paint));
  if (result.worst_case === null || options.quiet) return;
  const steps = result.worst_case.steps.length;
  writeLines(out, [
    `${result.file}: ${out.paint("green", "valid")}, ${steps} step${steps === 1 ? "" : "s"}`,
    ...shellLines(result.shells),
    ...worstCaseLines(result.worst_case, out.width(), out.paint),
  ]);
}
