import { z } from "zod";
import { wholeCharacters } from "../../file-part.js";
import type { Answer } from "../../operation.js";
import { isErrorLine } from "./line-index.js";
import type { IndexedFile } from "./line-indexes.js";
import { NEWLINE, readPieces } from "./line-pieces.js";

const MAX_LINES = 1_000;
/** How much of a long line is shown. Its position is included, so that the rest can be read. */
const MAX_LINE_BYTES = 4_096;

export const lineItem = z.object({
  line: z.number().describe("From 1."),
  text: z.string(),
  cut: z
    .object({ offset: z.number(), bytes: z.number() })
    .exactOptional()
    .describe("The line is longer: where it lies in the file."),
  error: z.literal(true).exactOptional().describe("It looks like an error."),
});
export type LineItem = Answer<typeof lineItem>;

export interface FoundLines {
  readonly items: readonly LineItem[];
  /** Where to continue; null at the end of what was requested. */
  readonly nextLine: number | null;
}

export interface LineSpan {
  readonly from: number;
  readonly to: number;
  readonly limitBytes: number;
}

/** A line as it lies in the file. */
export interface PlacedLine {
  readonly line: number;
  readonly start: number;
  /** The beginning of it, without the line break. */
  readonly bytes: Buffer;
  readonly length: number;
}

export async function readLines(indexed: IndexedFile, span: LineSpan): Promise<FoundLines> {
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
export async function* linesFrom(
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

export function itemOf({ line, start, bytes, length }: PlacedLine): LineItem {
  const isCut = length > MAX_LINE_BYTES;
  const shown = isCut ? wholeCharacters(bytes.subarray(0, MAX_LINE_BYTES)) : bytes;
  return {
    line,
    text: shown.toString("utf8"),
    ...(isCut ? { cut: { offset: start, bytes: length } } : {}),
    ...(isErrorLine(bytes) ? { error: true } : {}),
  };
}
