import { z } from "zod";
import { requireRun, resolveRun } from "../../report/lookup/run-reference.js";
import { timelineOf } from "../../report/timeline/run-timeline.js";
import { operation } from "../operation.js";
import { runReference, runStatus } from "../schemas.js";

const span = z.object({
  kind: z.enum(["attempt", "pause", "parked", "script", "slot", "question"]),
  attempt: z.number(),
  from_ms: z.number(),
  to_ms: z.number().nullable(),
  seq: z.number(),
  end_seq: z.number().nullable(),
  outcome: z.enum(["completed", "failed", "stopped"]).nullable(),
});

const row = z.object({
  step: z.string(),
  jobs: z.number().describe("That have begun: more than one in a fan-out."),
  attempts: z.number(),
  failed: z.number().describe("Attempts that failed."),
  from_ms: z.number().nullable(),
  to_ms: z.number().nullable().describe("Null: it is at work."),
  seq: z.number().nullable(),
  busy_ms: z.number(),
  waited_ms: z.number().describe("Pauses before retries, breakers and questions."),
  visits: z.array(z.object({ order: z.number(), seq: z.number() })),
  spans: z.array(span).describe("The newest; of a fan-out only the attempts that failed."),
});

export const getTimeline = operation({
  name: "get_timeline",
  summary: "show when the steps of a run were at work, paused or waiting",
  description:
    "Returns what happened when in a run: a row for each step with its attempts, pauses and waits, the jumps between steps, the transitions that were looked at, and how many events there were over time. Milliseconds count from `first_at`.",
  details:
    "A span is an attempt, a pause before a retry, a wait for a breaker (`parked`), a recovery script, a wait for a free slot or a question. A fan-out is one row without its items.",
  role: "viewer",
  effect: "reads",
  onlyForPeople: true,
  input: z.strictObject({ run_id: runReference }),
  output: z.object({
    run_id: z.number(),
    status: runStatus,
    events: z.number().describe("The `seq` of the last event."),
    first_at: z.string(),
    last_at: z.string(),
    failures: z.number(),
    decisions: z.number(),
    stretch_ms: z.number().describe("How long one of `stretches` is."),
    stretches: z.array(
      z.object({ from_ms: z.number(), events: z.number(), failures: z.number(), seq: z.number() }),
    ),
    rows: z.array(row),
    jumps: z.array(
      z.object({
        kind: z.enum(["goto", "edge", "repair", "operator"]),
        from: z.string(),
        to: z.string(),
        at_ms: z.number(),
        seq: z.number(),
      }),
    ),
    candidates: z.array(
      z.object({
        step: z.string(),
        edge: z.number(),
        to: z.string(),
        taken: z.number().describe("How often."),
        why: z.string().describe("Why it was not taken the last time; empty: it was never passed over."),
        seq: z.number(),
      }),
    ),
  }),
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
