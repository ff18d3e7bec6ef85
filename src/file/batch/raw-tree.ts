import { childPath, type Path, ROOT } from "../read/path.js";
import { fillPlaceholders, type ParameterValues } from "../read/placeholders.js";
import type { Findings } from "../read/problem.js";
import { findEntry, type SourceEntry, type SourceMap, type SourceNode } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";

const VARIABLES = "variables";

/** Puts the file's `variables` in the place of `{name}`, before anything else is read: the rest of the file may be about anything. */
export function withVariables(root: SourceNode, findings: Findings): SourceNode {
  const written = root.kind === "map" ? findEntry(root, VARIABLES)?.value : undefined;
  if (written?.kind !== "map" || written.entries.length === 0) return root;
  const values: ParameterValues = new Map(
    written.entries.flatMap(({ key, value }) =>
      value.kind === "scalar" ? [[key, { text: value.written, number: null }] as const] : [],
    ),
  );
  return fill(root, ROOT, { values, findings });
}

interface Filling {
  readonly values: ParameterValues;
  readonly findings: Findings;
}

function fill(node: SourceNode, path: Path | null, filling: Filling): SourceNode {
  if (node.kind === "map") return fillMap(node, path, filling);
  if (node.kind === "list")
    return { ...node, items: node.items.map((item, place) => fill(item, childPath(path, place), filling)) };
  if (typeof node.value !== "string") return node;
  const { text, problem } = fillPlaceholders(node.value, filling.values);
  if (problem !== null) {
    const hint = "Write the name alone, such as `{name}`: a variable is a text.";
    filling.findings.error({ code: "INVALID_VALUE", message: problem, hint, at: node.at, path });
  }
  return text === node.value ? node : { ...node, value: text, written: text };
}

function fillMap(map: SourceMap, path: Path | null, filling: Filling): SourceMap {
  const entries = map.entries.map((entry): SourceEntry => {
    const here = childPath(path, entry.key);
    if (path === ROOT && entry.key === VARIABLES) return entry;
    if (entry.key === "parameters") refuseSameNames(entry.value, here, filling);
    return { ...entry, value: fill(entry.value, here, filling) };
  });
  return { ...map, entries };
}

function refuseSameNames(parameters: SourceNode, path: Path | null, { values, findings }: Filling): void {
  if (parameters.kind !== "map") return;
  for (const { key, keyAt } of parameters.entries.filter((entry) => values.has(entry.key))) {
    const message = `${quote(key)} is a parameter here and one of the file's \`variables\``;
    const hint = "Give one of the two another name.";
    findings.error({ code: "INVALID_VALUE", message, hint, at: keyAt, path: childPath(path, key) });
  }
}

/** A `data` of the batch form is the user's own: in it null is a value. */
const OWN_VALUES = "data";

/**
 * Removes keys with null, which count as not given in the batch form. A node without such keys is returned unchanged.
 */
export function withoutNullKeys(node: SourceNode): SourceNode {
  if (node.kind === "scalar") return node;
  if (node.kind === "list") {
    const items = node.items.map(withoutNullKeys);
    return items.every((item, index) => item === node.items[index]) ? node : { ...node, items };
  }
  const entries = node.entries.flatMap((entry): SourceEntry[] => {
    const { key, value } = entry;
    if (value.kind === "scalar") return value.value === null && key !== OWN_VALUES ? [] : [entry];
    const kept = key === OWN_VALUES ? value : withoutNullKeys(value);
    return [kept === value ? entry : { ...entry, value: kept }];
  });
  const isSame = entries.length === node.entries.length && entries.every((e, i) => e === node.entries[i]);
  return isSame ? node : { ...node, entries };
}
