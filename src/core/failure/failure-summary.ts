import type { Failure } from "../model/failure.js";
import { firstChars } from "../text/head-tail.js";
import { plainLines } from "../text/plain-text.js";
import { looksLikeError } from "../text/telling-line.js";
import { maskVolatile } from "./signature.js";

export const MAX_FAILURE_SUMMARY_CHARS = 1_000;
const MAX_LINE_CHARS = 200;
const MAX_MESSAGE_CHARS = 300;
const MAX_LAST_LINES = 8;
/** Further back, repetitions are not counted. */
const MAX_FOLDED_LINES = 2_000;

/** What a person would say of a failed attempt after a look at its log: the same words for the same log. */
export function summariseFailure(failure: Failure): string {
  const { attempt, stderr_tail, stdout_tail } = failure;
  const streams = [
    { name: "stderr", lines: plainLines(stderr_tail) },
    { name: "stdout", lines: plainLines(stdout_tail) },
  ];
  const exit =
    failure.signal !== null
      ? `, signal ${failure.signal}`
      : failure.exit_code !== null
        ? `, exit code ${failure.exit_code}`
        : "";
  const told = [`Attempt ${attempt} failed: ${failure.code} (${failure.class})${exit}.`];
  const message = plainLines(failure.message).join(" ");
  if (message !== "") told.push(`Message: ${clip(message, MAX_MESSAGE_CHARS)}`);
  const telling = firstError(streams);
  if (telling !== null && !message.includes(telling.line))
    told.push(`First error on ${telling.name}: ${clip(telling.line, MAX_LINE_CHARS)}`);
  const last = streams.find(({ lines }) => lines.length > 0);
  if (last === undefined) told.push("It printed nothing.");
  else told.push(...lastLines(last.name, last.lines, MAX_FAILURE_SUMMARY_CHARS - told.join("\n").length));
  return firstChars(told.join("\n"), MAX_FAILURE_SUMMARY_CHARS);
}

function firstError(
  streams: readonly { name: string; lines: readonly string[] }[],
): { name: string; line: string } | null {
  for (const { name, lines } of streams) {
    const line = lines.find(looksLikeError);
    if (line !== undefined) return { name, line };
  }
  return null;
}

/** From the end backwards as many lines as fit; a line that came again and again stands once, with its count. */
function lastLines(name: string, lines: readonly string[], room: number): string[] {
  const heading = `Last lines of ${name}:`;
  let left = room - heading.length - 1;
  const shown: string[] = [];
  for (const { line, times } of foldRepeats(lines.slice(-MAX_FOLDED_LINES))) {
    const text = `  ${clip(line, MAX_LINE_CHARS)}${times > 1 ? ` (${times} times)` : ""}`;
    if (shown.length === MAX_LAST_LINES || text.length + 1 > left) break;
    shown.unshift(text);
    left -= text.length + 1;
  }
  return shown.length === 0 ? [] : [heading, ...shown];
}

/** Newest first. Lines that differ only in times, ids and the like are the same; the newest is shown. */
function foldRepeats(lines: readonly string[]): Iterable<{ line: string; times: number }> {
  const folded = new Map<string, { line: string; times: number }>();
  for (const line of lines.toReversed()) {
    const key = maskVolatile(clip(line, MAX_LINE_CHARS));
    const seen = folded.get(key);
    if (seen === undefined) folded.set(key, { line, times: 1 });
    else seen.times += 1;
  }
  return folded.values();
}

function clip(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${firstChars(text, maxChars - 3)}...`;
}
