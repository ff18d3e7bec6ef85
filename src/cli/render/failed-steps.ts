import { besideOf, excerptOf } from "../../core/model/excerpt.js";
import { oneLine } from "../../core/text/plain-text.js";
import { listNames, nameOf } from "../../tell/lookup/job-name.js";
import type { FailedStep } from "../../tell/run-summary.js";
import type { Paint } from "./paint.js";

/** How many failures are shown with their output. The others are only named. */
const MAX_TOLD_IN_FULL = 3;
const MAX_LINES = 10;
const INDENT = "  ";

export interface FailureLook {
  readonly paint: Paint;
  /** The command or path to read the whole log of a stream. */
  readonly log: (failed: FailedStep, stream: "stdout" | "stderr") => string | null;
}

/** Describes each failure once, with what its step printed of it. Steps that failed in the same way are grouped. */
export function failedStepLines(failures: readonly FailedStep[], look: FailureLook): string[] {
  const groups = alike(failures, ({ signature, code, message }) => signature ?? `${code} ${message}`);
  const others = groups.slice(MAX_TOLD_IN_FULL).flat();
  const named = ({ step, scope, code }: FailedStep): string => `${nameOf(step, scope)} (${code})`;
  return [
    ...groups.slice(0, MAX_TOLD_IN_FULL).flatMap((group) => oneGroup(group, look)),
    ...(others.length === 0 ? [] : [`also failed: ${listNames(others, named)}`]),
  ];
}

/** Groups items that are alike, in the order of each group's first item. */
export function alike<T>(items: readonly T[], likeness: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(likeness(item));
    if (group === undefined) groups.set(likeness(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

function oneGroup([first, ...others]: readonly FailedStep[], { paint, log }: FailureLook): string[] {
  const failed = first!;
  const lines = excerptOf(failed, MAX_LINES);
  const beside = oneLine(besideOf(failed, lines));
  const whole = oneLine(failed.message);
  const saysAll = lines.length === 1 && whole.includes(oneLine(lines[0]!.text));
  const attempt = failed.attempt > 0 ? ` on attempt ${failed.attempt}` : "";
  const last = lines.at(-1);
  const file = last === undefined ? null : log(failed, last.stream);
  return [
    `${paint("red", nameOf(failed.step, failed.scope))} failed${attempt}: ${saysAll ? whole : beside} (${failed.code})`,
    ...(others.length === 0
      ? []
      : [`${INDENT}so did ${listNames(others, ({ step, scope }) => nameOf(step, scope))}`]),
    ...(saysAll ? [] : lines).flatMap(({ stream, text }, at) => [
      ...(lines[at - 1]?.stream === stream ? [] : [`from its ${stream}:`]),
      `${INDENT}${paint("dim", "|")} ${text}`,
    ]),
    ...(file === null ? [] : [`log: ${file}`]),
  ];
}
