import { oneLine } from "../../core/text/plain-text.js";
import { listNames, nameOf } from "../../report/lookup/job-name.js";
import type { FailedStep } from "../../report/run-summary.js";
import type { Note } from "../../report/words/note.js";
import type { Paint } from "./paint.js";
import { harmlessLines } from "./text-width.js";

/** How many failures are shown with their output. The others are only named. */
const MAX_TOLD_IN_FULL = 3;
const MAX_LINES = 10;
const INDENT = "  ";

export interface FailureLook {
  readonly paint: Paint;
  /** The command or path to read the whole log of a stream. */
  readonly log: (failed: FailedStep, stream: "stdout" | "stderr") => string | null;
}

/** Describes each failure once, with the last lines of its step. Steps that failed in the same way are grouped. */
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
  const streams = (["stdout", "stderr"] as const)
    .map((stream) => ({ stream, lines: lastLines(failed[`${stream}_tail`] ?? "") }))
    .filter(({ lines }) => lines.length > 0);
  const printed = streams.flatMap(({ lines }) => lines);
  const beside = besideLines(failed.message, printed);
  const whole = oneLine(failed.message);
  const saysAll = printed.length === 1 && beside !== whole;
  const attempt = failed.attempt > 0 ? ` on attempt ${failed.attempt}` : "";
  const file = streams.length === 0 ? null : log(failed, streams.at(-1)!.stream);
  return [
    `${paint("red", nameOf(failed.step, failed.scope))} failed${attempt}: ${saysAll ? whole : beside} (${failed.code})`,
    ...(others.length === 0
      ? []
      : [`${INDENT}so did ${listNames(others, ({ step, scope }) => nameOf(step, scope))}`]),
    ...(saysAll ? [] : streams).flatMap(({ stream, lines }) => [
      `last lines of its ${stream}:`,
      ...lines.map((line) => `${INDENT}${paint("dim", "|")} ${line}`),
    ]),
    ...(file === null ? [] : [`log: ${file}`]),
  ];
}

export function lastLines(text: string, most = MAX_LINES): string[] {
  const whole = text.trimEnd();
  return whole === "" ? [] : harmlessLines(whole).slice(-most);
}

/** How many lines of a failed attempt's output are shown below its line while the run goes on. */
const MAX_LIVE_LINES = 5;

/** The end of a failed attempt's output, unless its line already says all of it. */
export function errorLines({ text, printed }: Pick<Note, "text" | "printed">): string[] {
  const lines = printed === undefined ? [] : lastLines(printed.tail, MAX_LIVE_LINES);
  return lines.length === 1 && text.includes(oneLine(lines[0]!)) ? [] : lines;
}

/** The message without the step's last words, if the printed lines that follow contain them. */
export function besideLines(message: string, printed: readonly string[]): string {
  const line = oneLine(message);
  const said = printed.map((each) => oneLine(each)).find((each) => each !== "" && line.endsWith(each));
  const rest = said === undefined ? line : line.slice(0, -said.length).replace(/[\s:]+$/, "");
  return rest === "" ? line : rest;
}
