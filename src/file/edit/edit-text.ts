import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { DarumaError } from "../../core/errors/errors.js";
import type { Transition } from "../../core/model/definition.js";
import type { RouteEnd } from "../../core/model/route.js";
import type { Json } from "../../core/text/json.js";
import type { TextEdit } from "../read/fix.js";
import { Findings } from "../read/problem.js";
import { readSource } from "../read/source-document.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import {
  addItem,
  addList,
  changeKeys,
  type DependsEdit,
  editDepends,
  removeItem,
  type Style,
} from "./edit-entries.js";

/** What a transition says; null takes a key out. */
export interface TransitionKeys {
  readonly from?: string;
  readonly to?: string;
  readonly on?: Transition["on"];
  readonly priority?: number | null;
  /** A condition as a workflow file has it, or an expression. */
  readonly when?: Json;
  readonly then?: RouteEnd | null;
}

/** One change that somebody makes in the picture of a workflow. Transitions are numbered from 1, as the file lists them. */
export type WorkflowEdit =
  | { readonly action: "add"; readonly keys: TransitionKeys }
  | { readonly action: "change"; readonly transition: number; readonly keys: TransitionKeys }
  | { readonly action: "remove"; readonly transition: number }
  | DependsEdit;

/** The list of transitions, as the parser of all of YAML has it, and where the piece that was parsed begins in the text. */
interface Found {
  readonly list: YAMLSeq.Parsed | null;
  readonly piece: string;
  readonly start: number;
  readonly style: Style;
}

const LIST = "transitions";

/**
 * The text with the change in it. Whatever the change is not about stays as it is written: comments, order, quotes, blank lines.
 * Throws INVALID_INPUT where the text cannot be changed by a program.
 */
export function editText(text: string, edit: WorkflowEdit, file = "workflow.yaml"): string {
  if (/\r\n/.test(text) && !/(?:^|[^\r])\n/.test(text))
    return editText(text.replaceAll("\r\n", "\n"), edit, file).replaceAll("\n", "\r\n");
  const root = rootOf(text, file);
  if ("to" in edit) return applyEdits(text, editDepends(text, edit));
  const { list, piece, start, style } = findList(text, root);
  const within = (edits: readonly TextEdit[]): string => applyEdits(text, edits, start);
  if (edit.action === "add") {
    const keys = withoutAbsent(edit.keys);
    return list === null ? addList(text, root, keys, style) : within([addItem(piece, list, keys, style)]);
  }
  const item = list?.items[edit.transition - 1];
  if (list === null || item === undefined)
    throw refused(`the text has no transition ${edit.transition}`, "Read the text again: it has changed.");
  if (edit.action === "remove") {
    if (list.items.length > 1 || list.flow === true)
      return within([removeItem(piece, list, edit.transition - 1)]);
    return within([wholeEntry(piece, list)]);
  }
  if (!isMap(item)) throw refused(`transition ${edit.transition} is not written out there`, EDIT_BY_HAND);
  return within(changeKeys(piece, item as YAMLMap.Parsed, edit.keys, style));
}

/** The one edit that makes the second text from the first. */
export function differenceOf(before: string, after: string): TextEdit {
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) from++;
  let [to, end] = [before.length, after.length];
  while (to > from && end > from && before[to - 1] === after[end - 1]) {
    to--;
    end--;
  }
  return { from, to, text: after.slice(from, end) };
}

export function applyEdits(text: string, edits: readonly TextEdit[], start = 0): string {
  let changed = text;
  for (const { from, to, text: by } of [...edits].sort((one, other) => other.from - one.from))
    changed = changed.slice(0, start + from) + by + changed.slice(start + to);
  return changed;
}

const EDIT_BY_HAND = "Change it in the text.";

function refused(message: string, hint: string): DarumaError {
  return new DarumaError("INVALID_INPUT", message, { hint });
}

function rootOf(text: string, file: string): SourceMap {
  if (file.endsWith(".json5")) throw refused("a JSON5 text cannot be edited by a program", EDIT_BY_HAND);
  const { root } = readSource(text, file, new Findings());
  if (root?.kind === "map") return root;
  throw refused("the text cannot be read", "Fix its syntax first.");
}

/** Only the piece that has the list is parsed: a file may have thousands of steps. */
function findList(text: string, root: SourceMap): Found {
  const entry = findEntry(root, LIST);
  const isFlow = text[root.at] === "{";
  const style: Style = isFlow && /^\{\s*"/.test(text.slice(root.at)) ? "json" : "yaml";
  if (entry === undefined) return { list: null, piece: "", start: 0, style };
  const start = isFlow ? 0 : text.lastIndexOf("\n", entry.keyAt - 1) + 1;
  const behind = root.entries.map(({ keyAt }) => keyAt).filter((at) => at > entry.keyAt);
  const next = behind.length === 0 ? text.length : text.lastIndexOf("\n", Math.min(...behind)) + 1;
  const piece = isFlow ? text : text.slice(start, next);
  const document = parseDocument(piece, { keepSourceTokens: true, uniqueKeys: false, logLevel: "error" });
  const value = isMap(document.contents) ? document.contents.get(LIST, true) : null;
  if (isSeq(value) && (value.items.length > 0 || value.flow === true))
    return { list: value as YAMLSeq.Parsed, piece, start, style };
  if (value != null && !("value" in value && value.value === null))
    throw refused(`\`${LIST}\` is not a list that is written out there`, EDIT_BY_HAND);
  return { list: null, piece, start, style };
}

/** The key with its only item. */
function wholeEntry(piece: string, list: YAMLSeq.Parsed): TextEdit {
  const end = list.range[1];
  const lineEnd = piece[end - 1] === "\n" ? end : piece.indexOf("\n", end);
  return {
    from: 0,
    to: lineEnd === -1 ? piece.length : piece[end - 1] === "\n" ? end : lineEnd + 1,
    text: "",
  };
}

function withoutAbsent(keys: TransitionKeys): [key: string, value: Json][] {
  return Object.entries(keys).filter((pair): pair is [string, Json] => pair[1] != null);
}
