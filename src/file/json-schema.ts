import { BATCH_KEYS, workflow } from "./fields/workflow-fields.js";
import { jsonDocument } from "./read/object-json.js";

/** The workflow file for editors. */
export function workflowJsonSchema(): object {
  return jsonDocument("Daruma workflow", workflow, {
    oneOf: [{ required: ["steps"] }, { required: ["checks"] }, { required: ["jobs"] }],
    dependentRequired: Object.fromEntries(BATCH_KEYS.map((key) => [key, ["jobs"]])),
  });
}
