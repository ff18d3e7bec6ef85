import { isScalar, type Pair, type ParsedNode, type YAMLMap } from "yaml";
import type { Json } from "../../core/text/json.js";
import type { TextEdit } from "../read/fix.js";
import { behindLine, lineBehind, removeFromFlow } from "./edit-list.js";
import type { TransitionKeys } from "./edit-text.js";
import { type Style, written, writtenPair } from "./written.js";

/** A file may call its keys otherwise. */
const SPELLINGS: { readonly [key in keyof Required<TransitionKeys>]: readonly string[] } = {
  from: ["from", "from_node_id", "sourceNodeKey"],
  to: ["to", "to_node_id", "targetNodeKey"],
  on: ["on", "routeOn", "route_on"],
  priority: ["priority"],
  when: ["when", "condition"],
  then: ["then"],
};

export type ParsedPair = Pair<ParsedNode, ParsedNode | null>;

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

export function replaceValue(piece: string, { key, value }: ParsedPair, text: string): TextEdit {
  if (value === null || value.range[0] === value.range[1]) {
    const colon = piece.indexOf(":", key.range[1]) + 1;
    return { from: colon, to: colon, text: ` ${text}` };
  }
  const [from, to] = value.range;
  // A text in several lines goes up to the next line.
  return { from, to, text: piece[to - 1] === "\n" ? `${text}\n` : text };
}

export function addPairs(
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

export function removePair(piece: string, map: YAMLMap.Parsed, place: number): TextEdit {
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
