import type { Json } from "../text/json.js";
import { checkJson } from "../text/json-schema-check.js";

const MAX_NAMED_MISMATCHES = 5;

/** Why the value does not match a step's `outputs`, as text; null if it does. */
export function misfitOf(value: Json, schema: Json | null): string | null {
  const mismatches = schema === null ? [] : checkJson(schema, value);
  if (mismatches.length === 0) return null;
  const named = mismatches.slice(0, MAX_NAMED_MISMATCHES).map(({ path, message }) => `${path}: ${message}`);
  return `the output does not fit its schema: ${named.join("; ")}`;
}
