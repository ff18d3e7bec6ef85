import { z } from "zod";
import { workflowJsonSchema } from "../../file/json-schema.js";
import { operation } from "../operation.js";

export const getWorkflowSchema = operation({
  name: "get_workflow_schema",
  summary: "print the JSON Schema of workflow files, for editors",
  description: "Returns the JSON Schema of workflow files: every key, its type and its meaning.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({}),
  output: z.looseObject({}),
  rest: { method: "GET", path: "/schema" },
  cli: [{ words: "schema", positional: [], examples: ["daruma schema > daruma.schema.json"] }],
  withoutStore: "unread",
  handler: async () => ({ ...workflowJsonSchema() }),
});
