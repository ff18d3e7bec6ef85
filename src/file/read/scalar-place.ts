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
export function offsetInFile(source: string, scalar: SourceScalar, offset: number): number {
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
