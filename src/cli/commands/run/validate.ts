import { DarumaError } from "../../../core/errors/errors.js";
import type { StepWorstCase, WorstCase } from "../../../file/lint/worst-case.js";
import type { Problem } from "../../../file/read/problem.js";
import type { Client } from "../../../operations/client.js";
import type { StepShells } from "../../../operations/workflows/validate-workflow.js";
import { readSource } from "../../../operations/workflows/workflow-source.js";
import type { Present } from "../../declare/declaration.js";
import { tableLines } from "../../render/columns.js";
import type { Paint } from "../../render/paint.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { problemLines } from "../../terminal/report-error.js";

/** How many steps are named for each shell except the most usual one. */
const MAX_NAMES = 5;

/** Describes the shells: `shells: sh -e -c; bash -e -o pipefail -c for deploy`. */
function shellLines(shells: readonly StepShells[]): string[] {
  if (shells.length === 0) return [];
  const [usual, ...others] = [...shells].sort((one, other) => other.steps.length - one.steps.length);
  const rest = others.map(({ shell, steps }) => {
    const more = steps.length - MAX_NAMES;
    return `${shell} for ${steps.slice(0, MAX_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  });
  return [`shell: ${[usual!.shell, ...rest].join("; ")}`];
}

/** How many steps are listed. A workflow may have thousands, but the most expensive ones matter. */
const MAX_ROWS = 20;
const INDENT = "  ";

/** Describes the most that can happen if everything fails for as long as it can. */
export function worstCaseLines(worst: WorstCase, width: number, paint: Paint): string[] {
  const repeated = worst.steps.filter(({ visits, attempts }) => visits !== 1 || attempts !== 1);
  const dearest = [...repeated].sort((first, second) => price(second) - price(first)).slice(0, MAX_ROWS);
  const lines = [
    `worst case: ${number(worst.attempts)} ${worst.attempts === 1 ? "attempt" : "attempts"} in all${perItem(worst)}, not counting restarts after a lost worker`,
  ];
  if (dearest.length === 0) return lines;
  const rows = dearest.map(({ step, path, visits, attempts }) => [
    step,
    number(visits),
    number(attempts),
    path.length === 0 ? "" : `for each item of ${path.join(" > ")}`,
  ]);
  const [header, ...table] = tableLines(["step", "visits", "attempts", ""], rows, width - INDENT.length);
  lines.push(INDENT + paint("dim", header!), ...table.map((line) => INDENT + line));
  const once = worst.steps.length - repeated.length;
  const more = repeated.length - dearest.length;
  if (more > 0)
    lines.push(`${INDENT}… and ${more} more ${more === 1 ? "step" : "steps"} with several attempts`);
  if (once > 0) lines.push(`${INDENT}every other step: 1 attempt`);
  return lines;
}

function price({ attempts }: StepWorstCase): number {
  return attempts ?? Number.POSITIVE_INFINITY;
}

function number(count: number | null): string {
  return count === null ? "unbounded" : String(count);
}

function perItem({ per_item }: WorstCase): string {
  return per_item
    .map(({ path, attempts }) => `, ${number(attempts)} for each item of ${path.join(" > ")}`)
    .join("");
}

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
