import { z } from "zod";
import { type Flake, findFlakes } from "../../tell/flakes.js";
import { operation } from "../operation.js";
import { limit, name } from "../schemas.js";
import { storedJobName } from "./failure-item.js";
import { moment, momentBefore } from "./moment.js";

export const listFlakes = operation({
  name: "list_flakes",
  summary: "list steps that passed only because they were retried",
  description:
    "Lists flaky steps, costliest first: jobs that failed and then completed in the same run by retry alone, with their share of all jobs of the step, what that cost, and the trend.",
  details:
    "Other help (a repair, a rule, a person) does not count, nor does a lost worker. `cost_ms` is the time from the start of a job's first failed attempt to the start of the one that passed, of all flaky jobs together. `trend` compares the rate of the later half of the time with that of the earlier one: rising or falling by more than a quarter, steady, or new where no job of the step ended in the earlier half. Pruned runs are not counted.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    workflow: name.optional().describe("Only of this workflow."),
    since: moment.default("30d").describe("Since when: a duration such as 7d, or a date."),
    limit,
  }),
  output: z.object({
    since: z.string(),
    items: z.array(
      z.object({
        workflow: z.string(),
        step: z.string(),
        flaky: z.number(),
        jobs: z.number(),
        rate: z.number(),
        cost_ms: z.number(),
        trend: z.enum(["rising", "falling", "steady", "new"]),
        last_run: z.number(),
        last_job: z.number(),
        last_step: z.string().nullable(),
      }),
    ),
  }),
  rest: { method: "GET", path: "/flakes" },
  cli: [
    {
      words: "flakes",
      positional: [],
      examples: ["daruma flakes", "daruma flakes --workflow release --since 7d --json"],
    },
  ],
  withoutStore: "empty",
  handler: async ({ store, now }, { workflow, since, limit: most }) => {
    const at = now();
    const from = momentBefore(since, at);
    const flakes: Flake[] = await findFlakes(store, {
      since: from,
      until: at,
      ...(workflow === undefined ? {} : { workflow }),
    });
    const items = flakes
      .slice(0, most)
      .map(async (flake) => ({ ...flake, last_step: await storedJobName(store, flake.last_job) }));
    return { since: new Date(from).toISOString(), items: await Promise.all(items) };
  },
});
