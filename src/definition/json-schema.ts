import { workflow } from "./fields/workflow-fields.js";
import { deepFreeze } from "./read/freeze.js";
import type { JsonDefinitions, JsonSchema } from "./read/schema.js";

/** The workflow file for editors, as JSON Schema draft 2020-12, from the same source that reads files. */
export function workflowJsonSchema(): object {
  const definitions: JsonDefinitions = new Map();
  const body = workflow.json(definitions);
  const schema: JsonSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Daruma workflow",
    ...body,
    oneOf: [{ required: ["steps"] }, { required: ["checks"] }, { required: ["jobs"] }],
    $defs: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  return deepFreeze(schema);
}
