import type { ErrorRecord } from "../../core/model/failure.js";
import { looksLikeError } from "../../core/text/error-lines.js";
import { plainLines, plainText } from "../../core/text/plain-text.js";
import { isTally } from "../../core/text/tally-line.js";
import { brokeText, isBareEnd } from "../../core/text/what-broke.js";
import { type Considered, isSpent } from "./rung-marks.js";
import { capitalised } from "./sentence.js";

const MAX_LINE_CHARS = 240;
const MAX_LINES = 10;

/** The lines of what was printed last that look like errors: of stderr, or of stdout if stderr has none. */
export function errorLinesOf(error: ErrorRecord | null): string[] {
  if (error === null) return [];
  for (const text of [error.stderr_tail, error.stdout_tail]) {
    const lines = plainLines(plainText(text)).filter(looksLikeError).slice(0, MAX_LINES);
    if (lines.length > 0) return lines.map((line) => line.trim().slice(0, MAX_LINE_CHARS));
  }
  return [];
}

/** What broke: the message without how the process ended, or the first error line where it only counts. */
export function titleOf(error: ErrorRecord, step: string): string {
  const printed = error.cause ?? error;
  const told = brokeText(error.message, step, printed);
  const named = errorLinesOf(printed).find((line) => !isTally(line));
  if (named !== undefined && (isTally(told) || isBareEnd(told, printed))) return named;
  // What is left whole is a sentence of the engine.
  return told === error.message ? capitalised(told) : told;
}

/** The first line that looks like an error and says more than the title does. */
export function errorLineOf(error: ErrorRecord, title: string): string | null {
  const whole = title.endsWith("…") ? title.slice(0, -1) : title;
  const says = (line: string): boolean => line.includes(whole) || whole.includes(line);
  return errorLinesOf(error.cause ?? error).find((line) => !says(line)) ?? null;
}

/** "2 attempts, no retries left (1 used)": what the last climb found used up, or else why it did not retry. */
export function triedText(attempts: number, lastClimb: readonly Considered[]): string {
  const count = attempts === 0 ? "no attempt" : `${attempts} attempt${attempts === 1 ? "" : "s"}`;
  const spent = lastClimb.filter(isSpent);
  const declined = lastClimb.filter(
    ({ rung, applied, kind }) => rung === "retry" && !applied && kind !== "not_configured",
  );
  return [count, ...(spent.length > 0 ? spent : declined).map(({ reason }) => reason)].join(", ");
}
