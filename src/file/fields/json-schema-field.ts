import type { Json } from "../../core/text/json.js";
import { unsupportedKeywords } from "../../core/text/json-schema-check.js";
import { type Schema, union } from "../read/schema.js";
import { json } from "../read/schema-scalars.js";

/** A schema as a program may write it. */
type WrittenSchema = { readonly [keyword: string]: Json };

const schemaMap: Schema<Json, WrittenSchema> = (() => {
  const { written: _, ...any } = json();
  return {
    ...any,
    expected: "a JSON Schema (a map)",
    fits: (node) => node.kind === "map",
    read(node, path, context) {
      const schema = any.read(node, path, context);
      if (schema === undefined) return undefined;
      for (const problem of unsupportedKeywords(schema)) {
        context.findings.error({
          code: "INVALID_VALUE",
          message: `the schema at ${problem.path}: ${problem.message}`,
          at: node.at,
          path,
        });
      }
      return schema;
    },
    json: () => ({ type: "object" }),
  };
})();

/** A JSON Schema of which every keyword can be checked. */
export const jsonSchemaField: Schema<Json, WrittenSchema> = { ...union(schemaMap), json: schemaMap.json };
