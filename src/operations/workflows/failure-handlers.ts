import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { operation } from "../operation.js";

const handler = z.object({
  id: z.number(),
  workflow_id: z.number(),
  name: z.string(),
  rules: z.string(),
});

export const listFailureHandlers = operation({
  name: "list_failure_handlers",
  summary: "list failure handlers with their rules",
  description:
    "Lists the failure handlers of the stored workflows, or of one. `rules` is a JSON array: exit_codes, match_all_exit_codes, recovery_script, recovery_timeout_ms, max_retries. They are edited in the workflow.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    workflow_id: z.coerce.number().int().positive().optional().describe("Only those of this workflow."),
  }),
  output: z.object({ items: z.array(handler) }),
  rest: { method: "GET", path: "/failure_handlers", unprefixed: true },
  cli: [
    {
      words: "handlers",
      positional: [],
      examples: ["daruma handlers", "daruma handlers --workflow-id 2 --json"],
    },
  ],
  handler: async ({ store }, { workflow_id }) => ({ items: await store.listFailureHandlers(workflow_id) }),
});

export const getFailureHandler = operation({
  name: "get_failure_handler",
  summary: "show a failure handler",
  description: "One failure handler by its id; `rules` is a JSON array as text.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ id: z.coerce.number().int().positive().describe("The failure handler's id.") }),
  output: handler,
  rest: { method: "GET", path: "/failure_handlers/{id}", unprefixed: true },
  cli: [{ words: "handler", positional: ["id"], examples: ["daruma handler 1"] }],
  handler: async ({ store }, { id }) => {
    const found = await store.readFailureHandler(id);
    if (found === null) throw new DarumaError("HANDLER_NOT_FOUND", `there is no failure handler ${id}`);
    return found;
  },
});
