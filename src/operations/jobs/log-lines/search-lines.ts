import { setImmediate as nextTurn } from "node:timers/promises";
import { DarumaError } from "../../../core/errors/errors.js";
import { plainText } from "../../../core/text/plain-text.js";
import { compilePattern } from "../../../run/sandbox/compile-pattern.js";
import type { IndexedFile } from "./line-indexes.js";
import { type FoundLines, itemOf, type LineItem, type LineSpan, linesFrom } from "./read-lines.js";

/** One call looks at so much at most, and says where the next one goes on. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;
const MAX_SEARCH_MS = 1_000;
const MAX_MATCHES = 1_000;
/** How much of a long line is searched. */
const MAX_LINE_CHARS = 64 * 1024;
const PIECE_BYTES = 128 * 1024;
/** After so many steps of the search the server turns to what else there is to do, and looks at the time: some 0.1 s. */
const STEPS_PER_LOOK = 4_000_000;

export interface Search extends LineSpan {
  readonly grep: string;
  readonly regex: boolean;
}

/** Lines that have a text in them, whatever its case, or that an RE2 expression matches. */
export async function searchLines(indexed: IndexedFile, search: Search): Promise<FoundLines> {
  const { matches, stepsPerChar } = matcherOf(search);
  const maxBytes = Math.min(MAX_LINE_CHARS, Math.floor(STEPS_PER_LOOK / stepsPerChar));
  const to = Math.min(search.to, indexed.facts.total);
  const items: LineItem[] = [];
  const startedAt = performance.now();
  let searched = 0;
  let steps = 0;
  for await (const line of linesFrom(indexed, search.from, PIECE_BYTES)) {
    if (line.line > to) return { items, nextLine: null };
    if (steps >= STEPS_PER_LOOK) {
      steps = 0;
      await nextTurn();
      const isLong = performance.now() - startedAt > MAX_SEARCH_MS;
      if (isLong || searched > MAX_SEARCHED_BYTES) return { items, nextLine: line.line };
    }
    const bytes = Math.min(line.bytes.length, maxBytes);
    searched += line.bytes.length + 1;
    steps += (bytes + 1) * stepsPerChar;
    if (!matches(plainText(line.bytes.toString("utf8", 0, bytes)))) continue;
    if (items.length === MAX_MATCHES) return { items, nextLine: line.line };
    items.push(itemOf(line));
  }
  return { items, nextLine: null };
}

interface Matcher {
  readonly matches: (text: string) => boolean;
  /** What a character costs at worst. */
  readonly stepsPerChar: number;
}

/** What looking for a plain text costs beside a step of an expression. */
const STEPS_OF_PLAIN_TEXT = STEPS_PER_LOOK / PIECE_BYTES;

function matcherOf({ grep, regex }: Search): Matcher {
  if (!regex) {
    const wanted = grep.toLowerCase();
    return { matches: (text) => text.toLowerCase().includes(wanted), stepsPerChar: STEPS_OF_PLAIN_TEXT };
  }
  const compiled = compilePattern(grep);
  if (typeof compiled === "function") return { matches: compiled, stepsPerChar: compiled.size };
  throw new DarumaError("INVALID_INPUT", `grep is not a regular expression: ${compiled.message}`);
}
