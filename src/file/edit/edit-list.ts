import { isMap, type YAMLMap, type YAMLSeq } from "yaml";
import type { Json } from "../../core/text/json.js";
import type { TextEdit } from "../read/fix.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import { type Style, written, writtenPair } from "./written.js";

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

export interface Ranged {
  readonly range?: readonly number[] | null;
}

/** One of several between commas; with the comma that it needs no more. */
export function removeFromFlow(items: readonly Ranged[], place: number): TextEdit {
  const start = (item: Ranged): number => item.range![0]!;
  const end = (item: Ranged): number => item.range![1]!;
  const own = items[place]!;
  if (place > 0) return { from: end(items[place - 1]!), to: end(own), text: "" };
  const next = items[1];
  return { from: start(own), to: next === undefined ? end(own) : start(next), text: "" };
}

/** A line of its own below the one in which something ends. */
export function behindLine(piece: string, end: number, line: string): TextEdit {
  const at = lineBehind(piece, end);
  const gap = at > 0 && piece[at - 1] !== "\n" ? "\n" : "";
  return { from: at, to: at, text: gap === "" ? `${line}\n` : `${gap}${line}` };
}

/**
 * The start of the line after the one in which something ends. A text of several lines ends with its last line break.
 */
export function lineBehind(piece: string, end: number): number {
  if (piece[end - 1] === "\n") return end;
  const lineEnd = piece.indexOf("\n", end);
  return lineEnd === -1 ? piece.length : lineEnd + 1;
}

export function dashOf(list: YAMLSeq.Parsed, place: number): number {
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
