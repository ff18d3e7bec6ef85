import { number, type OfFields, text } from "../../core/text/shape.js";
/** A change of the text that mends a problem. Lines and columns count from 1. */
export const FIX = {
  /** What a button says: `Rename it to backoff`. */
  words: text,
  line: number,
  column: number,
  end_line: number,
  end_column: number,
  text,
} as const;
export type Fix = OfFields<typeof FIX>;

/** What would mend a problem, at the place of the problem. */
export type Mending = { readonly words: string } & (
  | { readonly replaces: string; readonly by: string }
  /** A key with its value, to a map that lacks it. */
  | { readonly adds: string }
);

export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Without quotes these stay what they are; all else might be read as something other than this text. */
const PLAIN_WORD = /^[A-Za-z_][\w.-]*$/;
const NUMBER = /^\d+$/;
const NO_TEXT = new Set(["true", "false", "null"]);

export function rename(name: string, to: string | null): Mending | undefined {
  return to === null ? undefined : { words: `Rename it to ${to}`, replaces: name, by: to };
}

/** Null where the text at this place is not what was to be replaced, such as a name behind an alias or an escape. */
export function editFor(text: string, at: number, mending: Mending): TextEdit | null {
  if (at < 0) return null;
  if ("adds" in mending) return addKey(text, at, mending.adds);
  const { replaces, by } = mending;
  const quote = text[at] === '"' || text[at] === "'" ? text[at] : "";
  const from = at + quote.length;
  const to = from + replaces.length;
  if (text.slice(from, to) !== replaces) return null;
  if (quote === "" ? !isPlain(by, replaces) || isInWord(text, to) : !text.startsWith(quote, to)) return null;
  if (quote !== "" && /["'\\]/.test(by)) return null;
  return { from, to, text: by };
}

function isPlain(by: string, replaces: string): boolean {
  return NUMBER.test(replaces) ? NUMBER.test(by) : PLAIN_WORD.test(by) && !NO_TEXT.has(by.toLowerCase());
}

function isInWord(text: string, at: number): boolean {
  return at < text.length && /[\w-]/.test(text[at]!);
}

/** Before a key of the map, in a line of its own where the map is written in lines. */
function addKey(text: string, at: number, key: string): TextEdit | null {
  if (text[at] === "{") return { from: at + 1, to: at + 1, text: ` ${key},` };
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const before = text.slice(lineStart, at);
  if (/[{,]\s*$/.test(before)) return { from: at, to: at, text: `${key}, ` };
  // A tab, or a key before it in the line: not a map whose indentation is known.
  if (!/^[ -]*$/.test(before)) return null;
  return { from: at, to: at, text: `${key}\n${" ".repeat(at - lineStart)}` };
}
