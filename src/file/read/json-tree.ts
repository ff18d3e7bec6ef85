import { NONE } from "../../core/model/sparse-lists.js";
import { isPlainObject } from "../../core/text/json.js";
import { childPath, type Path, ROOT } from "./path.js";
import type { Findings } from "./problem.js";
import { NOWHERE, type SourceEntry, type SourceNode } from "./source-tree.js";
import { MAX_NESTING_LEVELS } from "./yaml-tree.js";

/** A JavaScript value into the tree that files become too, with no places in it. */
export function readObject(value: unknown, findings: Findings): SourceNode | null {
  return convert(value, ROOT, findings, 0);
}

function convert(value: unknown, path: Path | null, findings: Findings, depth: number): SourceNode | null {
  if (depth > MAX_NESTING_LEVELS)
    return fail(`values are nested more than ${MAX_NESTING_LEVELS} levels deep`, path, findings);
  if (
    value === null ||
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "boolean"
  ) {
    return { kind: "scalar", at: NOWHERE, value, written: String(value ?? ""), style: "quoted" };
  }
  if (Array.isArray(value)) {
    const items: SourceNode[] = [];
    for (const [index, item] of value.entries()) {
      const node = convert(item, childPath(path, index), findings, depth + 1);
      if (node !== null) items.push(node);
    }
    return { kind: "list", at: NOWHERE, items };
  }
  if (typeof value === "object" && isPlainObject(value)) {
    const entries: SourceEntry[] = [];
    for (const key of Object.keys(value)) {
      const part = (value as { readonly [key: string]: unknown })[key];
      if (part === undefined) continue;
      const node = convert(part, childPath(path, key), findings, depth + 1);
      if (node !== null) entries.push({ key, keyAt: NOWHERE, value: node });
    }
    return { kind: "map", at: NOWHERE, entries, repeated: NONE };
  }
  return fail(
    `expected plain data, found ${typeof value === "object" ? "an object of a class" : typeof value}`,
    path,
    findings,
  );
}

function fail(message: string, path: Path | null, findings: Findings): null {
  findings.error({ code: "WRONG_TYPE", message, at: NOWHERE, path });
  return null;
}
