import {
  BACKSLASH,
  COLON,
  COMMA,
  type Cursor,
  DASH,
  DOUBLE_QUOTE,
  END_OF_FILE,
  HASH,
  LIST_CLOSES,
  LIST_OPENS,
  leaveToFullParser,
  MAP_CLOSES,
  MAP_OPENS,
  NEWLINE,
  QUESTION_MARK,
  SINGLE_QUOTE,
  SPACE,
} from "./plain-cursor.js";
import { resolvePlain } from "./plain-scalar.js";
import type { SourceScalar } from "./source-tree.js";

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
