import { z } from "zod";
import { listHolds } from "../../tell/holds.js";
import { resolveRun } from "../../tell/lookup/run-reference.js";
import { operation } from "../operation.js";
import { waitingJob } from "../record-schemas.js";
import { runReference } from "../schemas.js";

export const listHeldJobs = operation({
  name: "list_holds",
  publishedTool: "list_pending_failed_jobs",
  summary: "list what is waiting for a person: held steps and open questions",
  description:
    "Lists jobs that are waiting for a person. `kind` hold: the job failed and the workflow leaves the decision to you; `error` has the details. `kind` question: a human step asks `question`. `decisions` has the operation and input of each way to continue.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference.optional().describe("Only this run: its number, or last; by default all runs."),
    workflow_id: z.coerce
      .number()
      .int()
      .positive()
      .optional()
      .describe("Only runs of this version of a workflow, by its id."),
  }),
  output: z.object({ items: z.array(waitingJob) }),
  rest: { method: "GET", path: "/holds" },
  cli: [{ words: "holds", positional: ["[run_id]"], examples: ["daruma holds", "daruma holds 3 --json"] }],
  handler: async ({ store }, { run_id, workflow_id: workflowId }) => {
    const runId = run_id === undefined ? undefined : await resolveRun(store, run_id);
    return { items: await listHolds(store, { runId, workflowId }) };
  },
});
