import type { ErrorRecord } from "../../core/model/failure.js";
import { looksLikeError } from "../../core/text/error-lines.js";
import { plainLines, plainText } from "../../core/text/plain-text.js";
import { type Considered, isSpent } from "../words/rung-marks.js";

const MAX_LINE_CHARS = 240;

/** The first line of what was printed that looks like an error; stderr counts before stdout. */
export function errorLineOf(error: ErrorRecord | null): string | null {
  if (error === null) return null;
  for (const text of [error.stderr_tail, error.stdout_tail]) {
    const line = plainLines(plainText(text)).find(looksLikeError);
    if (line !== undefined) return line.trim().slice(0, MAX_LINE_CHARS);
  }
  return null;
}

/** What broke, without how the process ended where more is known than that. */
export function titleOf(error: ErrorRecord | null): string | null {
  if (error === null) return null;
  const { message, exit_code, signal } = error;
  const ends = [`exit code ${exit_code}`, `ended by signal ${signal}`];
  const end = ends.find((each) => message === each || message.startsWith(`${each}: `));
  if (end === undefined) return message;
  return message === end ? (errorLineOf(error) ?? message) : message.slice(end.length + 2);
}

/** "2 attempts, no retries left (1 used)": what the last climb found used up. */
export function triedText(attempts: number, lastClimb: readonly Considered[]): string {
  const count = attempts === 0 ? "no attempt" : `${attempts} attempt${attempts === 1 ? "" : "s"}`;
  return [count, ...lastClimb.filter(isSpent).map(({ reason }) => reason)].join(", ");
}
