import { z } from "zod";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import { RUN_TIMELINE, timelineOf } from "../../tell/timeline/run-timeline.js";
import { operation } from "../operation.js";
import { recordOf, runReference, runStatus } from "../schemas.js";

export const getTimeline = operation({
  name: "get_timeline",
  summary: "show when the steps of a run were at work, paused or waiting",
  description:
    "Returns what happened when in a run: a row for each step with its attempts, pauses and waits, the jumps between steps, the transitions that were looked at, and how many events there were over time. Milliseconds count from `first_at`.",
  details:
    "A span is an attempt, a pause before a retry, a wait for a breaker (`parked`), a recovery script, a wait for a free slot or a question. A fan-out is one row without its items.",
  role: "viewer",
  effect: "reads",
  audience: "people",
  input: z.strictObject({ run_id: runReference }),
  output: z.object({ run_id: z.number(), status: runStatus, ...recordOf(RUN_TIMELINE).shape }),
  rest: { method: "GET", path: "/runs/{run_id}/timeline" },
  cli: [
    {
      words: "timeline",
      positional: ["run_id"],
      examples: ["daruma timeline 3", "daruma timeline last --json"],
    },
  ],
  handler: async ({ store }, { run_id }) => {
    const runId = await resolveRun(store, run_id);
    const { status } = await requireRun(store, runId);
    return { run_id: runId, status, ...(await timelineOf(store, runId)) };
  },
});
