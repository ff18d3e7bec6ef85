import type { SourceEntry, SourceNode } from "../read/source-tree.js";

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
