import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import type { Extension, Text } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";

/** The path of a place in a YAML text: `["steps", "build", 0]`. Numbers are positions in lists. */
type TextPath = readonly (string | number)[];

interface TextPlace {
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

/** The part of our own JSON Schema that completion needs. */
export interface SchemaPart {
  readonly $ref?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [key: string]: SchemaPart };
  readonly additionalProperties?: boolean | SchemaPart;
  readonly items?: SchemaPart;
  readonly anyOf?: readonly SchemaPart[];
  readonly oneOf?: readonly SchemaPart[];
  readonly allOf?: readonly SchemaPart[];
  readonly then?: SchemaPart;
  readonly $defs?: { readonly [name: string]: SchemaPart };
}

interface KnownKey {
  readonly key: string;
  readonly doc: string;
}

/** Limits recursion, because schemas may contain themselves. */
const MAX_DEPTH = 12;

/** All schemas that apply to a value at this path. */
function schemasAt(root: SchemaPart, path: TextPath): SchemaPart[] {
  let here = unfold(root, root);
  for (const key of path) here = here.flatMap((part) => stepInto(root, part, key));
  return here;
}

export function keysAt(root: SchemaPart, path: TextPath): KnownKey[] {
  const keys = new Map<string, KnownKey>();
  for (const { properties } of schemasAt(root, path))
    for (const [key, part] of Object.entries(properties ?? {}))
      if (!keys.has(key)) keys.set(key, { key, doc: docOf(root, part) });
  return [...keys.values()];
}

/** The words allowed as a value at this path. */
export function valuesAt(root: SchemaPart, path: TextPath): string[] {
  const values = new Set<string>();
  for (const part of schemasAt(root, path)) {
    for (const value of part.enum ?? (part.const === undefined ? [] : [part.const]))
      values.add(String(value));
    if (part.type === "boolean") for (const value of ["true", "false"]) values.add(value);
  }
  return [...values];
}

export function docAt(root: SchemaPart, path: TextPath, key: string): string | null {
  return keysAt(root, path).find((known) => known.key === key)?.doc ?? null;
}

function docOf(root: SchemaPart, part: SchemaPart): string {
  const doc =
    part.description ?? unfold(root, part).find(({ description }) => description)?.description ?? "";
  return part.default === undefined ? doc : `${doc} Default: ${JSON.stringify(part.default)}.`;
}

function stepInto(root: SchemaPart, part: SchemaPart, key: string | number): SchemaPart[] {
  if (typeof key === "number") return part.items === undefined ? [] : unfold(root, part.items);
  const own = part.properties?.[key];
  if (own !== undefined) return unfold(root, own);
  return typeof part.additionalProperties === "object" ? unfold(root, part.additionalProperties) : [];
}

function unfold(root: SchemaPart, part: SchemaPart, depth = 0): SchemaPart[] {
  if (depth > MAX_DEPTH) return [];
  const target = part.$ref === undefined ? undefined : root.$defs?.[part.$ref.replace("#/$defs/", "")];
  const inner = [
    ...(target === undefined ? [] : [target]),
    ...(part.anyOf ?? []),
    ...(part.oneOf ?? []),
    ...(part.allOf ?? []),
    ...(part.then === undefined ? [] : [part.then]),
  ];
  return [part, ...inner.flatMap((each) => unfold(root, each, depth + 1))];
}

/** Keys whose values are names of steps. */
const STEP_KEYS = new Set(["from", "to", "goto", "run", "depends_on", "step"]);
/** How many lines before the cursor are searched for its place. A file may have a million lines. */
const MAX_LINES_ABOVE = 5_000;

/** Completes keys, values and steps while typing, and explains the key under the pointer. */
export function textCompletion(schema: () => SchemaPart | null, steps: () => readonly string[]): Extension {
  return [
    autocompletion({ override: [(context) => complete(context, schema(), steps())], icons: false }),
    hoverTooltip((view, at) => {
      const root = schema();
      const { doc } = view.state;
      const line = doc.lineAt(at);
      const word = wordAround(line.text, at - line.from);
      if (root === null || word === null) return null;
      const { path } = placeIn(doc, line.from + word.from);
      const doc_ = docAt(root, path, word.text);
      if (doc_ === null) return null;
      return {
        pos: line.from + word.from,
        create: () => {
          const dom = document.createElement("div");
          dom.className = "known-key";
          dom.textContent = `${word.text}: ${doc_}`;
          return { dom };
        },
      };
    }),
  ];
}

function complete(
  { state, pos, explicit }: CompletionContext,
  root: SchemaPart | null,
  steps: readonly string[],
): CompletionResult | null {
  if (root === null) return null;
  const { path, word, key } = placeIn(state.doc, pos);
  if (word === "" && !explicit) return null;
  const from = pos - /[\w.-]*$/.exec(word)![0].length;
  if (key === null && path.at(-1) !== 0) {
    const options = keysAt(root, path).map(({ key: known, doc }) => ({
      ...{ label: known, apply: `${known}: `, type: "property", info: doc },
    }));
    return options.length === 0 ? null : { from, options, validFor: /^[\w-]*$/ };
  }
  const place = key === null ? path : [...path, key];
  const isStep = place.some((part) => typeof part === "string" && STEP_KEYS.has(part));
  const values = [...valuesAt(root, place), ...(isStep ? steps : [])];
  return values.length === 0
    ? null
    : { from, options: values.map((label) => ({ label, type: "constant" })), validFor: /^[\w.-]*$/ };
}

function placeIn(doc: Text, at: number) {
  const line = doc.lineAt(at);
  const first = Math.max(1, line.number - MAX_LINES_ABOVE);
  const lines: string[] = [];
  for (const text of doc.iterLines(first, line.number + 1)) lines.push(text);
  return placeAt(lines, lines.length - 1, at - line.from);
}

function wordAround(text: string, at: number): { readonly from: number; readonly text: string } | null {
  for (const match of text.matchAll(/[\w-]+(?=\s*:)/g))
    if (match.index <= at && at <= match.index + match[0].length)
      return { from: match.index, text: match[0] };
  return null;
}
