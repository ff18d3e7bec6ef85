/** The path of a place in a YAML text: `["steps", "build", 0]`. Numbers are positions in lists. */
export type TextPath = readonly (string | number)[];

export interface TextPlace {
  /** The path of the map or value around the cursor. */
  readonly path: TextPath;
  /** The part of the word before the cursor. */
  readonly word: string;
  /** The key whose value is being typed; null while a key is being typed. */
  readonly key: string | null;
}

const KEY = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'#[\]{},:-][^:#]*?|-(?=\S)[^:#]*?)\s*:(?:\s|$)/;

interface Open {
  readonly indent: number;
  readonly key: string | number;
}

/**
 * Finds the place of the cursor by indentation, line by line, because a parser would reject most texts that are being
 * typed.
 */
export function placeAt(lines: readonly string[], line: number, column: number): TextPlace {
  const open: Open[] = [];
  let literal: number | null = null;
  for (let at = 0; at < line; at++) {
    const text = lines[at]!;
    if (text.trim() === "" || /^\s*#/.test(text)) continue;
    const indent = indentOf(text);
    if (literal !== null && indent > literal) continue;
    literal = openBlocks(open, text) ? indent : null;
  }
  const before = lines[line]!.slice(0, column);
  return atCursor(open, before);
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

/** Pushes what a line opens. Returns true if a text of several lines begins. */
function openBlocks(open: Open[], text: string): boolean {
  let [rest, indent] = [text.trimStart(), indentOf(text)];
  close(open, indent, rest);
  for (let dash = /^-(\s+|$)/.exec(rest); dash !== null; dash = /^-(\s+|$)/.exec(rest)) {
    const previous = open.at(-1);
    const count =
      previous?.indent === indent && typeof previous.key === "number" ? Number(open.pop()!.key) + 1 : 0;
    open.push({ indent, key: count });
    indent += dash[0].length;
    rest = rest.slice(dash[0].length);
  }
  const key = KEY.exec(rest);
  if (key === null) return false;
  open.push({ indent, key: unquote(key[1]!) });
  return /:\s*[|>][+-]?\d?\s*(#.*)?$/.test(rest);
}

/** Pops blocks that have ended. An item of a list may have the same indentation as its key. */
function close(open: Open[], indent: number, rest: string): void {
  const isItem = /^-(\s|$)/.test(rest);
  while (open.length > 0) {
    const last = open.at(-1)!;
    if (last.indent < indent) return;
    if (isItem && last.indent === indent && (typeof last.key === "number" || open.at(-2)?.indent !== indent))
      return;
    open.pop();
  }
}

function atCursor(open: Open[], before: string): TextPlace {
  let [rest, indent] = [before.trimStart(), indentOf(before)];
  const isBlank = rest === "";
  close(open, isBlank ? before.length : indent, rest);
  for (let dash = /^-\s+/.exec(rest); dash !== null; dash = /^-\s+/.exec(rest)) {
    const previous = open.at(-1);
    const count =
      previous?.indent === indent && typeof previous.key === "number" ? Number(open.pop()!.key) + 1 : 0;
    open.push({ indent, key: count });
    indent += dash[0].length;
    rest = rest.slice(dash[0].length);
  }
  const path: (string | number)[] = open.map(({ key }) => key);
  const key = KEY.exec(rest);
  if (key === null && !/^[[{]/.test(rest)) return { path, word: rest, key: null };
  if (key === null) return inBrackets(path, rest);
  const name = unquote(key[1]!);
  const value = rest.slice(key[0].length).trimStart();
  return /^[[{]/.test(value) ? inBrackets([...path, name], value) : { path, word: value, key: name };
}

/** The place within `{ a: { b: [` on one line. */
function inBrackets(path: readonly (string | number)[], text: string): TextPlace {
  const here = [...path];
  let [word, key, quote] = ["", null as string | null, ""];
  const opened: string[] = [];
  for (const letter of text) {
    if (quote !== "") {
      if (letter === quote) quote = "";
      else word += letter;
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === "{" || letter === "[") {
      if (opened.length > 0) here.push(key ?? 0);
      opened.push(letter);
      [word, key] = ["", null];
    } else if (letter === "}" || letter === "]") {
      opened.pop();
      if (opened.length > 0) here.pop();
      [word, key] = ["", null];
    } else if (letter === ",") [word, key] = ["", null];
    else if (letter === ":") [word, key] = ["", word.trim()];
    else word += letter;
  }
  const inList = opened.at(-1) === "[" && key === null;
  return { path: inList ? [...here, 0] : here, word: word.trimStart(), key };
}

function unquote(text: string): string {
  return /^["']/.test(text) ? text.slice(1, -1) : text.trim();
}
