import { setImmediate as nextTurn } from "node:timers/promises";
import { z } from "zod";
import { DarumaError } from "../../../core/errors/errors.js";
import { plainText } from "../../../core/text/plain-text.js";
import { compilePattern } from "../../../run/sandbox/compile-pattern.js";
import { wholeCharacters } from "../../file-part.js";
import type { Answer } from "../../operation.js";
import { type IndexedFile, isErrorLine, NEWLINE, readPieces, withLines } from "./line-index.js";

const MAX_LINES = 1_000;
/** How much of a long line is shown. Its position is included, so that the rest can be read. */
const MAX_LINE_BYTES = 4_096;

const lineItem = z.object({
  line: z.number().describe("From 1."),
  text: z.string(),
  cut: z
    .object({ offset: z.number(), bytes: z.number() })
    .exactOptional()
    .describe("The line is longer: where it lies in the file."),
  error: z.literal(true).exactOptional().describe("It looks like an error."),
});
type LineItem = Answer<typeof lineItem>;

interface FoundLines {
  readonly items: readonly LineItem[];
  /** Where to continue; null at the end of what was requested. */
  readonly nextLine: number | null;
}

interface LineSpan {
  readonly from: number;
  readonly to: number;
  readonly limitBytes: number;
}

/** A line as it lies in the file. */
interface PlacedLine {
  readonly line: number;
  readonly start: number;
  /** The beginning of it, without the line break. */
  readonly bytes: Buffer;
  readonly length: number;
}

async function readLines(indexed: IndexedFile, span: LineSpan): Promise<FoundLines> {
  const { from, limitBytes } = span;
  const to = Math.min(span.to, indexed.facts.total);
  const items: LineItem[] = [];
  let room = limitBytes;
  for await (const line of linesFrom(indexed, from)) {
    if (line.line > to) return { items, nextLine: null };
    room -= Math.min(line.length, MAX_LINE_BYTES);
    if (items.length === MAX_LINES || (room < 0 && items.length > 0)) return { items, nextLine: line.line };
    items.push(itemOf(line));
  }
  return { items, nextLine: null };
}

/** All lines from this one on, to the end of what is indexed. */
async function* linesFrom(
  { file, size, index, facts }: IndexedFile,
  from: number,
  pieceBytes?: number,
): AsyncGenerator<PlacedLine> {
  if (from > facts.total) return;
  const mark = index.markBefore(from);
  let { line } = mark;
  for await (const { start, bytes, end, isOpen } of readPieces(file, mark.offset, size, pieceBytes)) {
    for (let begins = 0; begins < bytes.length; line += 1) {
      const at = bytes.indexOf(NEWLINE, begins);
      const ends = at < 0 ? bytes.length : at;
      if (line >= from) {
        const length = at < 0 ? end - start - (isOpen ? 0 : 1) : ends - begins;
        yield { line, start: start + begins, bytes: bytes.subarray(begins, ends), length };
      }
      begins = ends + 1;
    }
  }
}

function itemOf({ line, start, bytes, length }: PlacedLine): LineItem {
  const isCut = length > MAX_LINE_BYTES;
  const shown = isCut ? wholeCharacters(bytes.subarray(0, MAX_LINE_BYTES)) : bytes;
  return {
    line,
    text: shown.toString("utf8"),
    ...(isCut ? { cut: { offset: start, bytes: length } } : {}),
    ...(isErrorLine(bytes) ? { error: true } : {}),
  };
}

const FORM = /^(-?\d{1,15})?(:(\d{1,15})?)?$/;

/** `120:160`, `120:` to the end, `-50:` the last fifty, `7` one alone. Lines count from 1. */
export const lines = z
  .string()
  .max(40)
  .refine((text) => text !== "" && text !== ":" && FORM.test(text), {
    message: "must be lines such as 120:160, 120: or -50: (the last 50)",
  });

function spanOf(text: string, total: number): { readonly from: number; readonly to: number } {
  const [, first = "1", colon, last] = FORM.exec(text) ?? [];
  const from = first.startsWith("-") ? Math.max(1, total + Number(first) + 1) : Math.max(1, Number(first));
  if (colon === undefined && !first.startsWith("-")) return { from, to: from };
  return { from, to: last === undefined ? Number.POSITIVE_INFINITY : Number(last) };
}

/** One call looks at so much at most, and says where the next one goes on. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;
const MAX_SEARCH_MS = 1_000;
const MAX_MATCHES = 1_000;
/** How much of a long line is searched. */
const MAX_LINE_CHARS = 64 * 1024;
const PIECE_BYTES = 128 * 1024;
/** After so many steps of the search the server turns to what else there is to do, and looks at the time: some 0.1 s. */
const STEPS_PER_LOOK = 4_000_000;

interface Search extends LineSpan {
  readonly grep: string;
  readonly regex: boolean;
}

/** Lines that have a text in them, whatever its case, or that an RE2 expression matches. */
async function searchLines(indexed: IndexedFile, search: Search): Promise<FoundLines> {
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

export const foundLines = z
  .object({
    items: z.array(lineItem),
    next_line: z.number().nullable().describe("Where to go on; null: that was all."),
    total: z.number().describe("The lines of the file."),
    complete: z.boolean().describe("False: only a part of the file was read so far; ask again."),
    error_lines: z.array(z.number()).describe("The first lines that look like errors; none in a search."),
    error_count: z.number(),
  })
  .describe("Null where neither `lines` nor `grep` is given.");

export interface LineRequest {
  readonly lines: string | undefined;
  readonly grep: string | undefined;
  readonly regex: boolean;
  readonly limitBytes: number;
}

const NOTHING: Answer<typeof foundLines> = {
  items: [],
  next_line: null,
  total: 0,
  complete: true,
  error_lines: [],
  error_count: 0,
};

/** Lines of a log by their numbers, or those that a search finds among them. */
export async function findLines(
  path: string,
  { lines, grep, regex, limitBytes }: LineRequest,
): Promise<Answer<typeof foundLines>> {
  const found = await withLines(path, async (indexed) => {
    const { total, complete, errorLines, errorCount } = indexed.facts;
    const span = { ...spanOf(lines ?? "1:", total), limitBytes };
    const { items, nextLine } =
      grep === undefined
        ? await readLines(indexed, span)
        : await searchLines(indexed, { ...span, grep, regex });
    const error_lines = grep === undefined ? errorLines : [];
    return { items, next_line: nextLine, total, complete, error_lines, error_count: errorCount };
  });
  return found ?? NOTHING;
}
