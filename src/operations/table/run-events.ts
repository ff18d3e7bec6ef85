import { z } from "zod";
import { resolveRun } from "../../report/lookup/run-reference.js";
import { operation } from "../operation.js";
import { followEvents, listEvents } from "../runs/all-events.js";
import { followRunEvents, listRunEvents } from "../runs/run-events.js";
import { limit, runReference } from "./schemas.js";

const event = z.looseObject({
  seq: z.number(),
  at: z.string(),
  type: z.string(),
  step: z.string().optional().describe("Of the job that it is about."),
  scope: z.string().optional(),
});
const MAX_CURSOR_CHARS = 1_000_000;

export const listRunEventsOperation = operation({
  name: "list_run_events",
  summary: "print a run's log, one event a line",
  description:
    "The run's log: every fact in order, numbered by `seq`. The log is the truth of a run; docs/events.md tells what each type means. `next` is the `after` of the next page, null at the end.",
  details: "As a stream it goes on until the run is over; an item's id is its seq.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference,
    after: z.coerce.number().int().min(0).default(0).describe("Only events after this seq."),
    limit,
  }),
  output: z.object({ run_id: z.number(), items: z.array(event), next: z.number().nullable() }),
  rest: { method: "GET", path: "/runs/{run_id}/events" },
  cli: [
    {
      words: "events",
      positional: ["run_id"],
      examples: ["daruma events 3", "daruma events last --json | head -1", "daruma events last --follow"],
    },
  ],
  streamFrom: "after",
  handler: async ({ store }, { run_id, ...page }) =>
    listRunEvents(store, await resolveRun(store, run_id), page),
  stream: async function* ({ store }, { run_id, after }, signal) {
    yield* followRunEvents(store, await resolveRun(store, run_id), after, signal);
  },
});

export const listEventsOperation = operation({
  name: "list_events",
  summary: "watch what happens in all runs",
  description:
    "What has happened in all runs since a cursor, the events of each run in order, each with its run_id and workflow. Without `after` it gives only the cursor of now in `next`; ask again with it.",
  details:
    "As a stream it goes on until the reader leaves; an item's id is the cursor just after it. While more than 64 runs are under way, only the last event of each piece of a run's log has an id, and a reconnect repeats that piece from its beginning; with some ten thousand, an id no longer holds them all, and a reconnect tells the newest runs again from their beginning. No event is left out. Who only asks now and then does not hear of a run that was over, was opened again and is over again meanwhile; its own log has it.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    after: z.string().max(MAX_CURSOR_CHARS).optional().describe("A cursor; by default from now on."),
    limit,
  }),
  output: z.object({
    items: z.array(event.extend({ run_id: z.number(), workflow: z.string() })),
    next: z.string(),
  }),
  rest: { method: "GET", path: "/events" },
  cli: [{ words: "watch", positional: [], examples: ["daruma watch", "daruma watch --json"] }],
  streamFrom: "after",
  handler: ({ store }, input) => listEvents(store, input),
  stream: ({ store }, { after }, signal) => followEvents(store, after, signal),
});
