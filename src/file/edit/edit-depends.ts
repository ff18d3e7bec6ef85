import { isMap, isScalar, isSeq, type ParsedNode, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { DarumaError } from "../../core/errors/errors.js";
import type { TextEdit } from "../read/fix.js";
import { behindLine, dashOf, removeItem } from "./edit-list.js";
import { addPairs, type ParsedPair, removePair, replaceValue } from "./edit-map.js";
import { type Style, written } from "./written.js";

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
