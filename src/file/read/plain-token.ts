import type { SourceScalar } from "./source-tree.js";

/** Codes of the characters that the reader of plain YAML looks at. */
export const END_OF_FILE = -1;
export const NEWLINE = 10;
export const SPACE = 32;
const DOUBLE_QUOTE = 34;
export const HASH = 35;
const SINGLE_QUOTE = 39;
export const COMMA = 44;
export const DASH = 45;
export const COLON = 58;
const QUESTION_MARK = 63;
export const LIST_OPENS = 91;
const BACKSLASH = 92;
export const LIST_CLOSES = 93;
const MAP_OPENS = 123;
export const BAR = 124;
export const MAP_CLOSES = 125;

export const UNSURE = new Error("left to the full parser");

export function leaveToFullParser(): never {
  throw UNSURE;
}

/** A place in the text, with the line that it is on. */
export class Cursor {
  pos = 0;
  lineStart = 0;
  /** The column of the first character of the next line, or END_OF_FILE. */
  column = 0;

  constructor(readonly source: string) {}

  at(pos: number): number {
    return pos < this.source.length ? this.source.charCodeAt(pos) : END_OF_FILE;
  }

  here(): number {
    return this.at(this.pos);
  }

  isBlank(pos: number): boolean {
    const char = this.at(pos);
    return char === SPACE || char === NEWLINE || char === END_OF_FILE;
  }

  /** The dash of a list's item. */
  isDash(): boolean {
    return this.here() === DASH && this.isBlank(this.pos + 1);
  }

  opensFlow(): boolean {
    return this.here() === LIST_OPENS || this.here() === MAP_OPENS;
  }

  /** At the end of a line, or before the comment that ends it. */
  isLineEnd(): boolean {
    const char = this.here();
    if (char === HASH) return this.pos === this.lineStart || this.at(this.pos - 1) === SPACE;
    return char === NEWLINE || char === END_OF_FILE;
  }

  skipSpaces(): void {
    while (this.here() === SPACE) this.pos++;
  }

  /** Within brackets, where lines may break as long as they stay to the right of what holds the brackets. */
  skipFlowSpaces(column: number): void {
    this.skipSpaces();
    while (this.here() === NEWLINE) {
      this.lineStart = ++this.pos;
      this.skipSpaces();
      const isText = this.here() !== NEWLINE;
      if (isText && (this.pos - this.lineStart <= column || this.isDocumentMark())) leaveToFullParser();
    }
    if (this.here() === HASH) leaveToFullParser();
  }

  toNextLine(): void {
    this.toLineFrom(this.lineEndFrom(this.pos) + 1);
  }

  /** The first line from here that has more than blanks and a comment. */
  toLineFrom(from: number): void {
    let start = from;
    while (start < this.source.length) {
      this.lineStart = this.pos = start;
      this.skipSpaces();
      const char = this.here();
      if (char !== NEWLINE && char !== HASH && char !== END_OF_FILE) {
        this.column = this.pos - start;
        if (this.isDocumentMark()) leaveToFullParser();
        return;
      }
      start = this.lineEndFrom(this.pos) + 1;
    }
    this.pos = this.lineStart = this.source.length;
    this.column = END_OF_FILE;
  }

  lineEndFrom(pos: number): number {
    const end = this.source.indexOf("\n", pos);
    return end === -1 ? this.source.length : end;
  }

  private isDocumentMark(): boolean {
    if (this.pos !== this.lineStart) return false;
    return this.source.startsWith("---", this.pos) || this.source.startsWith("...", this.pos);
  }
}

const NUMBER_OR_WORD = /^[-+.0-9~nNtTfF]/;
const NULLS = new Set(["~", "null", "Null", "NULL"]);
const BOOLEANS = new Map([
  ["true", true],
  ["True", true],
  ["TRUE", true],
  ["false", false],
  ["False", false],
  ["FALSE", false],
]);

/** What the core schema of YAML 1.2 takes a plain scalar for. */
function resolvePlain(text: string): string | number | boolean | null {
  if (!NUMBER_OR_WORD.test(text)) return text;
  if (NULLS.has(text)) return null;
  const boolean = BOOLEANS.get(text);
  if (boolean !== undefined) return boolean;
  if (/^0o[0-7]+$/.test(text)) return Number.parseInt(text.slice(2), 8);
  if (/^[-+]?[0-9]+$/.test(text)) return Number.parseInt(text, 10);
  if (/^0x[0-9a-fA-F]+$/.test(text)) return Number.parseInt(text.slice(2), 16);
  if (/^\.(?:nan|NaN|NAN)$/.test(text)) return Number.NaN;
  if (/^[-+]?\.(?:inf|Inf|INF)$/.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  if (/^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)$/.test(text)) return Number.parseFloat(text);
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+$/.test(text)) return Number.parseFloat(text);
  return text;
}

/** What begins something else than a plain scalar. */
const INDICATORS = new Set([...",[]{}#&*!|>'\"%@`"].map((char) => char.charCodeAt(0)));
const FLOW_MARKS = new Set([COMMA, LIST_OPENS, LIST_CLOSES, MAP_OPENS, MAP_CLOSES]);
const MARKERS = new Set([DASH, COLON, QUESTION_MARK]);

/** A scalar that begins at the cursor and ends on its line; the cursor stands behind it then. */
export function readToken(cursor: Cursor, inFlow: boolean): SourceScalar {
  if (cursor.here() === DOUBLE_QUOTE) return readDoubleQuoted(cursor);
  if (cursor.here() === SINGLE_QUOTE) return readSingleQuoted(cursor);
  const at = cursor.pos;
  cursor.pos = plainEnd(cursor, inFlow);
  const written = cursor.source.slice(at, cursor.pos);
  return { kind: "scalar", at, value: resolvePlain(written), written, style: "plain" };
}

/** A plain scalar ends before a colon, a comment or, in brackets, a comma or a bracket. */
function plainEnd(cursor: Cursor, inFlow: boolean): number {
  const goesOn = (pos: number): boolean =>
    !cursor.isBlank(pos) && !(inFlow && FLOW_MARKS.has(cursor.at(pos)));
  const first = cursor.here();
  if (INDICATORS.has(first) || (MARKERS.has(first) && !goesOn(cursor.pos + 1))) leaveToFullParser();
  let end = cursor.pos;
  for (let pos = cursor.pos; ; pos++) {
    const char = cursor.at(pos);
    if (char === SPACE) continue;
    if (char === NEWLINE || char === END_OF_FILE) return end;
    if (char === HASH && cursor.at(pos - 1) === SPACE) return end;
    if (char === COLON && !goesOn(pos + 1)) return end;
    if (inFlow && FLOW_MARKS.has(char)) return end;
    end = pos + 1;
  }
}

function readDoubleQuoted(cursor: Cursor): SourceScalar {
  const at = cursor.pos;
  let end = at + 1;
  while (cursor.at(end) !== DOUBLE_QUOTE) {
    if (cursor.at(end) === NEWLINE || cursor.at(end) === END_OF_FILE) leaveToFullParser();
    end += cursor.at(end) === BACKSLASH ? 2 : 1;
  }
  cursor.pos = end + 1;
  return quoted(at, withoutEscapes(cursor.source.slice(at, end + 1)));
}

function readSingleQuoted(cursor: Cursor): SourceScalar {
  const at = cursor.pos;
  let end = at + 1;
  while (cursor.at(end) !== SINGLE_QUOTE || cursor.at(end + 1) === SINGLE_QUOTE) {
    if (cursor.at(end) === NEWLINE || cursor.at(end) === END_OF_FILE) leaveToFullParser();
    end += cursor.at(end) === SINGLE_QUOTE ? 2 : 1;
  }
  cursor.pos = end + 1;
  return quoted(at, cursor.source.slice(at + 1, end).replaceAll("''", "'"));
}

function quoted(at: number, value: string): SourceScalar {
  return { kind: "scalar", at, value, written: value, style: "quoted" };
}

/** The escapes of JSON mean the same in YAML; the others are left to the full parser. */
function withoutEscapes(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return JSON.parse(literal) as string;
  } catch {
    return leaveToFullParser();
  }
}
