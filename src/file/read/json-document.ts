import { deepFreeze } from "./freeze.js";
import type { JsonDefinitions, JsonSchema, Schema } from "./schema.js";

/** A file for editors, as JSON Schema draft 2020-12, from the same source that reads it. */
export function jsonDocument(
  title: string,
  schema: Pick<Schema<unknown>, "json">,
  more: JsonSchema = {},
): object {
  const definitions: JsonDefinitions = new Map();
  const body = schema.json(definitions);
  return deepFreeze({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title,
    ...body,
    ...more,
    $defs: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))),
  });
}
