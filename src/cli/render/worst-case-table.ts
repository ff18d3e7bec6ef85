import type { StepWorstCase, WorstCase } from "../../file/lint/worst-case.js";
import type { Paint } from "./paint.js";
import { tableLines } from "./table.js";

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
