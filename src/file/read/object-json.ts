import type { Json } from "../../core/text/json.js";
import { deepFreeze } from "./freeze.js";
import type { Fields, JsonDefinitions, JsonSchema, ObjectOptions, Schema } from "./schema.js";

/** A map with these keys as JSON Schema, for editors. */
export function objectJson(
  fields: Fields,
  { rest, unread }: ObjectOptions,
  definitions: JsonDefinitions,
): JsonSchema {
  const properties: JsonSchema = {};
  const required: string[] = [];
  const requiredSpellings: Json[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const described: JsonSchema = { ...field.schema.json(definitions), description: field.doc };
    if (field.default !== undefined) described.default = field.default;
    properties[name] = described;
    for (const alias of field.aliases ?? [])
      properties[alias] = { ...described, description: `The same as \`${name}\`.` };
    if (!field.required) continue;
    if (field.aliases === undefined) required.push(name);
    else {
      const spellings = [name, ...field.aliases].map((spelling) => ({ required: [spelling] }));
      requiredSpellings.push({ oneOf: spellings });
    }
  }
  for (const [key, why] of unread?.why ?? []) properties[key] = { description: `Has no effect: ${why}.` };
  const json: JsonSchema = { type: "object", properties };
  if (requiredSpellings.length > 0) json.allOf = requiredSpellings;
  if (required.length > 0) json.required = required;
  if (rest === undefined) json.additionalProperties = false;
  return json;
}

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
