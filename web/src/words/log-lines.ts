import { plainText } from "../../../src/core/text/plain-text.js";

/** Longer lines are cut in the page; the file has them whole. */
const MAX_LINE_CHARS = 4_000;

/** The lines of a piece of a log, as text and nothing else: what a step wrote must not become part of the page. */
export function linesOf(text: string): string[] {
  const lines = plainText(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)} …` : line));
}
