import { z } from "zod";
import type { Event } from "../../core/model/events.js";
import type { JobRow } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import { type MarkedJob, markedJobs } from "../../tell/marked-jobs.js";
import { operation } from "../operation.js";
import { job } from "../record-schemas.js";
import { limit, runReference } from "../schemas.js";

export const listDeadLetters = operation({
  name: "list_dead_letters",
  summary: "list jobs that the queue gave up on",
  description:
    "Lists dead letters: jobs that failed in every round that `queue.max_attempts` of their workflow allows. Repair the cause, then redrive them (redrive_job).",
  details:
    "Each is a job with its error, its number of rounds and the time since when it is a dead letter. It stays one until somebody repairs the cause and redrives it (redrive_job), or decides otherwise. `next` is the `after` of the next page, null at the end.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference.optional().describe("Only this run: its number, or last; by default all runs."),
    limit,
    after: z.coerce.number().int().min(0).optional().describe("Only jobs with a larger id."),
  }),
  output: z.object({
    items: z.array(job.extend({ queue_attempts: z.number(), since: z.string() })),
    next: z.number().nullable(),
  }),
  rest: { method: "GET", path: "/dead_letters" },
  cli: [],
  withoutStore: "empty",
  handler: async ({ store }, { run_id, limit: most, after }) =>
    deadLetters(store, {
      limit: most,
      ...(run_id === undefined ? {} : { runId: await resolveRun(store, run_id) }),
      ...(after === undefined ? {} : { after }),
    }),
});

/** A job that the queue has given up: all its rounds are used, and nobody has redriven it. */
type DeadLetter = MarkedJob<{
  /** Rounds of the queue that it has had. */
  readonly queue_attempts: number;
}>;

/** Dead letters by job id. `next` is the `after` of the next page. */
async function deadLetters(
  store: Store,
  { runId, limit, after }: { readonly runId?: number; readonly limit: number; readonly after?: number },
): Promise<{ items: DeadLetter[]; next: number | null }> {
  const rows = await store.listJobs({
    deadLetter: true,
    limit,
    ...(runId === undefined ? {} : { runId }),
    ...(after === undefined ? {} : { afterId: after }),
  });
  const items: DeadLetter[] = [];
  for (const [runId, ofRun] of groupByRun(rows))
    items.push(...(await markedJobs(store, await requireRun(store, runId), ofRun, markOf)));
  return { items, next: rows.length < limit ? null : rows.at(-1)!.id };
}

/** Rows by id are rows by run. */
function groupByRun(rows: readonly JobRow[]): Map<number, JobRow[]> {
  const groups = new Map<number, JobRow[]>();
  for (const row of rows) groups.set(row.run_id, [...(groups.get(row.run_id) ?? []), row]);
  return groups;
}

function markOf(event: Event): { readonly queue_attempts: number } | undefined {
  return event.type === "job.dead_lettered" ? { queue_attempts: event.queue_attempts } : undefined;
}
