import { plainText } from "../../../src/core/text/plain-text.js";

/** Longer lines are cut on the page. The file has them in full. */
const MAX_LINE_CHARS = 4_000;

/** Splits a piece of a log into plain text: output of a step must not become markup. */
export function linesOf(text: string): string[] {
  const lines = plainText(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)} …` : line));
}

/** Counts the lines of a log. */
export function countLines(text: string): number {
  const lines = text.split("\n").length;
  return text === "" || text.endsWith("\n") ? lines - 1 : lines;
}
