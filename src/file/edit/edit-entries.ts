import {
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { DarumaError } from "../../core/errors/errors.js";
import type { Json } from "../../core/text/json.js";
import type { TextEdit } from "../read/fix.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import type { TransitionKeys } from "./edit-text.js";

/** Without quotes these are read back as the same text. */
const PLAIN_WORD = /^[A-Za-z_][\w./-]*$/;
const NO_TEXT = new Set(["true", "false", "null"]);

/** How the text around writes its values: JSON has quotes around everything. */
export type Style = "yaml" | "json";

/** A value on one line. */
function written(value: Json, style: Style): string {
  if (style === "json") return JSON.stringify(value);
  if (typeof value === "string")
    return PLAIN_WORD.test(value) && !NO_TEXT.has(value.toLowerCase()) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => written(item, style)).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, item]) => `${written(key, style)}: ${written(item, style)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

function writtenPair(key: string, value: Json, style: Style): string {
  return `${written(key, style)}: ${written(value, style)}`;
}

type Keys = readonly (readonly [key: string, value: Json])[];

const LIST = "transitions";

/** To a text that has no transitions yet. */
export function addList(text: string, root: SourceMap, keys: Keys, style: Style): string {
  const item = written(Object.fromEntries(keys), style);
  const entry = findEntry(root, LIST);
  if (text[root.at] === "{") return addToFlowRoot(text, root, item, style);
  if (entry !== undefined) {
    // `transitions:` with nothing behind it.
    const colon = text.indexOf(":", entry.keyAt) + 1;
    return `${text.slice(0, colon)}\n${indentOf(text, root.at)}  - ${item}${text.slice(colon)}`;
  }
  const end = documentEnd(text);
  const before = text.slice(0, end);
  const gap = before === "" || before.endsWith("\n") ? "" : "\n";
  const indent = indentOf(text, root.at);
  return `${before}${gap}${indent}${LIST}:\n${indent}  - ${item}\n${text.slice(end)}`;
}

function addToFlowRoot(text: string, root: SourceMap, item: string, style: Style): string {
  const close = text.lastIndexOf("}");
  const content = text.slice(0, close).trimEnd();
  const comma = root.entries.length === 0 || content.endsWith(",") ? "" : ",";
  const list = `${written(LIST, style)}: [${item}]`;
  const tail = text.slice(content.length);
  return `${content}${comma} ${list}${tail.startsWith("}") ? ` ${tail}` : tail}`;
}

/** Behind the last one, written as that is. */
export function addItem(piece: string, list: YAMLSeq.Parsed, keys: Keys, style: Style): TextEdit {
  const last = list.items.at(-1);
  if (list.flow === true) {
    const item = written(Object.fromEntries(keys), style);
    const at = last === undefined ? list.range[0] + 1 : last.range![1];
    return { from: at, to: at, text: last === undefined ? item : `, ${item}` };
  }
  const dash = dashOf(list, list.items.length - 1);
  const indent = " ".repeat(dash - (piece.lastIndexOf("\n", dash - 1) + 1));
  const lines =
    isMap(last) && (last as YAMLMap).flow !== true
      ? keys.map(([key, value]) => writtenPair(key, value, style)).join(`\n${indent}  `)
      : written(Object.fromEntries(keys), style);
  return behindLine(piece, last!.range![1], `${indent}- ${lines}`);
}

export function removeItem(piece: string, list: YAMLSeq.Parsed, place: number): TextEdit {
  const item = list.items[place]!;
  if (list.flow === true) return removeFromFlow(list.items as readonly Ranged[], place);
  const dash = dashOf(list, place);
  const from = piece.lastIndexOf("\n", dash - 1) + 1;
  return { from, to: lineBehind(piece, item.range![1]), text: "" };
}

interface Ranged {
  readonly range?: readonly number[] | null;
}

/** One of several between commas; with the comma that it needs no more. */
function removeFromFlow(items: readonly Ranged[], place: number): TextEdit {
  const start = (item: Ranged): number => item.range![0]!;
  const end = (item: Ranged): number => item.range![1]!;
  const own = items[place]!;
  if (place > 0) return { from: end(items[place - 1]!), to: end(own), text: "" };
  const next = items[1];
  return { from: start(own), to: next === undefined ? end(own) : start(next), text: "" };
}

/** A line of its own below the one in which something ends. */
function behindLine(piece: string, end: number, line: string): TextEdit {
  const at = lineBehind(piece, end);
  const gap = at > 0 && piece[at - 1] !== "\n" ? "\n" : "";
  return { from: at, to: at, text: gap === "" ? `${line}\n` : `${gap}${line}` };
}

/**
 * The start of the line after the one in which something ends. A text of several lines ends with its last line break.
 */
function lineBehind(piece: string, end: number): number {
  if (piece[end - 1] === "\n") return end;
  const lineEnd = piece.indexOf("\n", end);
  return lineEnd === -1 ? piece.length : lineEnd + 1;
}

function dashOf(list: YAMLSeq.Parsed, place: number): number {
  const { srcToken } = list;
  const tokens = srcToken !== undefined && "items" in srcToken ? (srcToken.items[place]?.start ?? []) : [];
  return tokens.find(({ type }) => type === "seq-item-ind")?.offset ?? list.items[place]!.range![0]! - 2;
}

function indentOf(text: string, at: number): string {
  return " ".repeat(at - (text.lastIndexOf("\n", at - 1) + 1));
}

/** Before the mark that ends a document, where there is one. */
function documentEnd(text: string): number {
  const mark = /^\.\.\.\s*$/m.exec(text);
  return mark === null ? text.length : mark.index;
}

/** A file may call its keys otherwise. */
const SPELLINGS: { readonly [key in keyof Required<TransitionKeys>]: readonly string[] } = {
  from: ["from", "from_node_id", "sourceNodeKey"],
  to: ["to", "to_node_id", "targetNodeKey"],
  on: ["on", "routeOn", "route_on"],
  priority: ["priority"],
  when: ["when", "condition"],
  then: ["then"],
};

type ParsedPair = Pair<ParsedNode, ParsedNode | null>;

/** Edits that give a map these keys; one that is null is taken out. */
export function changeKeys(
  piece: string,
  map: YAMLMap.Parsed,
  keys: TransitionKeys,
  style: Style,
): TextEdit[] {
  const added: (readonly [string, Json])[] = [];
  const edits: TextEdit[] = [];
  for (const [key, spellings] of Object.entries(SPELLINGS)) {
    const value = keys[key as keyof TransitionKeys];
    if (value === undefined) continue;
    const place = map.items.findIndex(
      (pair) => isScalar(pair.key) && spellings.includes(String(pair.key.value)),
    );
    const pair = map.items[place] as ParsedPair | undefined;
    if (pair === undefined) {
      if (value !== null) added.push([key, value]);
    } else if (value === null) edits.push(removePair(piece, map, place));
    else edits.push(replaceValue(piece, pair, written(value, style)));
  }
  return added.length === 0 ? edits : [...edits, addPairs(piece, map, added, style)];
}

function replaceValue(piece: string, { key, value }: ParsedPair, text: string): TextEdit {
  if (value === null || value.range[0] === value.range[1]) {
    const colon = piece.indexOf(":", key.range[1]) + 1;
    return { from: colon, to: colon, text: ` ${text}` };
  }
  const [from, to] = value.range;
  // A text in several lines goes up to the next line.
  return { from, to, text: piece[to - 1] === "\n" ? `${text}\n` : text };
}

function addPairs(
  piece: string,
  map: YAMLMap.Parsed,
  pairs: readonly (readonly [string, Json])[],
  style: Style,
): TextEdit {
  const end = endOf(map.items.at(-1) as ParsedPair);
  const texts = pairs.map(([key, value]) => writtenPair(key, value, style));
  if (map.flow === true) return { from: end, to: end, text: texts.map((text) => `, ${text}`).join("") };
  const start = map.items[0]!.key.range[0];
  const indent = " ".repeat(start - (piece.lastIndexOf("\n", start - 1) + 1));
  return behindLine(piece, end, texts.map((text) => `${indent}${text}`).join("\n"));
}

function removePair(piece: string, map: YAMLMap.Parsed, place: number): TextEdit {
  const pairs = map.items as readonly ParsedPair[];
  if (map.flow === true)
    return removeFromFlow(
      pairs.map((pair) => ({ range: [pair.key.range[0], endOf(pair)] })),
      place,
    );
  const own = pairs[place]!;
  // The first one stands behind the dash of its item: the next one comes there.
  if (place === 0 && pairs[1] !== undefined)
    return { from: own.key.range[0], to: pairs[1].key.range[0], text: "" };
  const from = piece.lastIndexOf("\n", own.key.range[0] - 1) + 1;
  return { from, to: lineBehind(piece, endOf(own)), text: "" };
}

function endOf({ key, value }: ParsedPair): number {
  return value === null ? key.range[1] + 1 : value.range[1];
}

/** That a step waits for another, or does so no more. */
export interface DependsEdit {
  readonly action: "depend" | "release";
  /** The step that is waited for. */
  readonly from: string;
  /** The step that waits. */
  readonly to: string;
}

const KEY = "depends_on";
const EDIT_BY_HAND = "Change it in the text.";

/** The edits of a text that make a step wait for another, or no more; the rest stays as it is written. */
export function editDepends(text: string, { action, from, to }: DependsEdit): TextEdit[] {
  const document = parseDocument(text, { keepSourceTokens: true, uniqueKeys: false, logLevel: "error" });
  const root = document.contents;
  const step = isMap(root) ? mapIn(mapIn(root as YAMLMap.Parsed, "steps"), to) : null;
  if (step === null) throw refused(`${to} is not a step that is written out there`);
  const style: Style = /^\s*\{\s*"/.test(text) ? "json" : "yaml";
  const place = step.items.findIndex(({ key }) => isScalar(key) && key.value === KEY);
  const pair = step.items[place] as ParsedPair | undefined;
  const value = pair?.value ?? null;
  const known = namesIn(value);
  if (action === "depend") {
    if (known.includes(from)) throw refused(`${to} waits for ${from} already`);
    if (pair === undefined) return [addPairs(text, step, [[KEY, [from]]], style)];
    if (isSeq(value) && value.items.length > 0)
      return [addName(text, value as YAMLSeq.Parsed, written(from, style))];
    return [replaceValue(text, pair, written([...known, from], style))];
  }
  if (!known.includes(from))
    throw refused(`${to} does not wait for ${from} alone, or it is not written out there`);
  if (known.length === 1 && (!isSeq(value) || value.items.length === 1))
    return [removePair(text, step, place)];
  const list = value as YAMLSeq.Parsed;
  const item = list.items.findIndex((each) => isScalar(each) && each.value === from);
  return [removeItem(text, list, item)];
}

function mapIn(map: YAMLMap.Parsed | null, key: string): YAMLMap.Parsed | null {
  const found = map?.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key)?.value;
  return isMap(found) ? (found as YAMLMap.Parsed) : null;
}

/** Steps that are waited for one by one; what stands in a choice, such as `a|b`, is not among them. */
function namesIn(value: ParsedNode | null): string[] {
  const nodes = isSeq(value) ? value.items : [value];
  return nodes.flatMap((node) => (isScalar(node) && typeof node.value === "string" ? [node.value] : []));
}

function addName(text: string, list: YAMLSeq.Parsed, name: string): TextEdit {
  const end = list.items.at(-1)!.range![1]!;
  if (list.flow === true) return { from: end, to: end, text: `, ${name}` };
  const dash = dashOf(list, list.items.length - 1);
  const indent = " ".repeat(dash - (text.lastIndexOf("\n", dash - 1) + 1));
  return behindLine(text, end, `${indent}- ${name}`);
}

function refused(message: string): DarumaError {
  return new DarumaError("INVALID_INPUT", message, { hint: EDIT_BY_HAND });
}
