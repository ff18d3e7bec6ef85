import { DarumaError } from "../../../core/errors/errors.js";
import { plainText } from "../../../core/text/plain-text.js";
import { compilePattern } from "../../../sandbox/compile-pattern.js";
import type { IndexedFile } from "./line-indexes.js";
import { type FoundLines, itemOf, type LineItem, type LineSpan, linesFrom } from "./read-lines.js";

/** One call looks at so much at most, and says where the next one goes on. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;
const MAX_SEARCH_MS = 1_000;
const MAX_MATCHES = 1_000;
/** Of a longer line only the beginning is searched. */
const MAX_LINE_CHARS = 64 * 1024;
/** After each the server turns to what else there is to do, and looks at the time. */
const PIECE_BYTES = 128 * 1024;

export interface Search extends LineSpan {
  readonly grep: string;
  readonly regex: boolean;
}

/** Lines that have a text in them, whatever its case, or that an RE2 expression matches. */
export async function searchLines(indexed: IndexedFile, search: Search): Promise<FoundLines> {
  const matches = matcherOf(search);
  const to = Math.min(search.to, indexed.facts.total);
  const items: LineItem[] = [];
  const startedAt = performance.now();
  let searched = 0;
  let looked = 0;
  for await (const line of linesFrom(indexed, search.from, PIECE_BYTES)) {
    if (line.line > to) return { items, nextLine: null };
    if (searched - looked >= PIECE_BYTES) {
      looked = searched;
      const isLong = performance.now() - startedAt > MAX_SEARCH_MS;
      if (isLong || searched > MAX_SEARCHED_BYTES) return { items, nextLine: line.line };
    }
    searched += line.bytes.length + 1;
    if (!matches(plainText(line.bytes.toString("utf8", 0, Math.min(line.bytes.length, MAX_LINE_CHARS)))))
      continue;
    if (items.length === MAX_MATCHES) return { items, nextLine: line.line };
    items.push(itemOf(line));
  }
  return { items, nextLine: null };
}

function matcherOf({ grep, regex }: Search): (text: string) => boolean {
  if (!regex) {
    const wanted = grep.toLowerCase();
    return (text) => text.toLowerCase().includes(wanted);
  }
  const compiled = compilePattern(grep);
  if (typeof compiled === "function") return compiled;
  throw new DarumaError("INVALID_INPUT", `grep is not a regular expression: ${compiled.message}`);
}
