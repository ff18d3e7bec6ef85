import { z } from "zod";
import { WAITING_JOBS } from "../context.js";
import { operation } from "../operation.js";
import { recordOf } from "../schemas.js";

export const listWaiting = operation({
  name: "list_waiting",
  summary: "list what waits for a worker, and why",
  description: "Lists ready jobs that have no worker yet, once for each reason, most jobs first.",
  details:
    "Of the runs that this server runs, and of the first 10,000 ready jobs. `kind` is `worker` if no worker can run them, `slot` if those that can are busy. `run_id`, `job_id` and `step` name one of the jobs. A job that waits for a breaker, or for its turn in a workspace, is not among them. Without a server nothing waits.",
  role: "viewer",
  onlyForPeople: true,
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({ items: z.array(recordOf(WAITING_JOBS)) }),
  rest: { method: "GET", path: "/waiting" },
  cli: [
    {
      words: "workers waiting",
      positional: [],
      examples: ["daruma workers waiting --server http://127.0.0.1:7420"],
    },
  ],
  withoutStore: "empty",
  handler: async ({ runner }) => ({ items: runner?.listWaiting() ?? [] }),
});
