import { editFor, type Fix, type Mending } from "./fix.js";
import type { Finding, Problem } from "./problem.js";
import type { SourceScalar } from "./source-tree.js";

/** Length of an escape of a double-quoted text with its backslash; two where it is not here. */
const ESCAPE_CHARS: { readonly [letter: string]: number } = { x: 4, u: 6, U: 10 };
/** Escapes that stand for a blank, line breaks that are taken out included. */
const BLANK_ESCAPES = " \ttnrvf_LP\n\r";
const BLANK = /\s/;

/**
 * The offset in the file of a character of a scalar's value. Indentation and line breaks are not the same in both, all
 * other characters are, in the same order: they are counted.
 */
function offsetInFile(source: string, scalar: SourceScalar, offset: number): number {
  const value = typeof scalar.value === "string" ? scalar.value : scalar.written;
  const isBehindAll = countMarks(value, offset) === countMarks(value, value.length);
  let left = countMarks(value, offset);
  let at = contentStart(source, scalar);
  let end = at;
  while (at < source.length && !(isBehindAll && left === 0)) {
    const { length, marks } = readUnit(source, at, scalar);
    if (marks > left) return at;
    left -= marks;
    at += length;
    if (marks > 0) end = at;
  }
  return end;
}

function countMarks(text: string, end: number): number {
  let count = 0;
  for (let at = 0; at < end && at < text.length; at++) if (!BLANK.test(text[at]!)) count++;
  return count;
}

function contentStart(source: string, { at, style }: SourceScalar): number {
  if (style === "quoted") return at + 1;
  if (style === "plain") return at;
  // Behind the header: `|`, `>-`, `|2 # comment`.
  const lineEnd = source.indexOf("\n", at);
  return lineEnd === -1 ? source.length : lineEnd + 1;
}

/** One character of the value as the file has it, and how many of its UTF-16 units are not blank. */
function readUnit(source: string, at: number, scalar: SourceScalar): { length: number; marks: number } {
  const character = source[at]!;
  if (scalar.style === "quoted" && character === "'" && source[scalar.at] === "'" && source[at + 1] === "'")
    return { length: 2, marks: 1 };
  if (scalar.style !== "quoted" || character !== "\\" || source[scalar.at] !== '"')
    return { length: 1, marks: BLANK.test(character) ? 0 : 1 };
  const letter = source[at + 1] ?? "";
  const length = ESCAPE_CHARS[letter];
  if (length === undefined) return { length: 2, marks: BLANK_ESCAPES.includes(letter) ? 0 : 1 };
  const code = Number.parseInt(source.slice(at + 2, at + length), 16);
  const decoded = String.fromCodePoint(code);
  return { length, marks: countMarks(decoded, decoded.length) };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

const FILE_START: Position = { line: 1, column: 1 };

/** Turns offsets into lines and columns, both from 1. */
export class SourceText {
  constructor(
    private readonly text: string,
    private readonly lineStarts: readonly number[],
  ) {}

  positionOf(offset: number): Position {
    if (offset < 0 || this.lineStarts.length === 0) return FILE_START;
    let low = 0;
    let high = this.lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.lineStarts[low]! + 1 };
  }

  toProblem(finding: Finding, file: string): Problem {
    const { code, message, hint, path, inside, mending } = finding;
    const at = inside === null ? finding.at : offsetInFile(this.text, inside.scalar, inside.offset);
    const { line, column } = this.positionOf(at);
    const fix = mending === undefined ? null : this.fixOf(at, mending);
    return { code, message, hint, file, line, column, path, ...(fix === null ? {} : { fix }) };
  }

  private fixOf(at: number, mending: Mending): Fix | null {
    const edit = editFor(this.text, at, mending);
    if (edit === null) return null;
    const [start, end] = [this.positionOf(edit.from), this.positionOf(edit.to)];
    return {
      words: mending.words,
      ...start,
      end_line: end.line,
      end_column: end.column,
      text: edit.text,
    };
  }
}

/** Offsets at which lines begin. */
export function lineStartsOf(source: string): number[] {
  const starts = [0];
  for (let end = source.indexOf("\n"); end !== -1; end = source.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}
