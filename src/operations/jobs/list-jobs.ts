import { z } from "zod";
import type { Event } from "../../core/model/events.js";
import type { JobRow, RunRow } from "../../core/model/rows.js";
import type { JobFilter } from "../../store/filters.js";
import type { Store } from "../../store/store.js";
import { listHolds, type MarkedJob, markedJobs } from "../../tell/holds.js";
import { type JobRecord, jobRecord } from "../../tell/job-record.js";
import { interruptedRunIds } from "../../tell/lookup/run-owner.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { flag, job, jobStatus, limit, listOf, runReference, waitingJob } from "../schemas.js";
import { searchFields, searchOf, textField } from "../search-fields.js";
import { Waits, type WaitsFor, waitsFor } from "./waits-for.js";

export const listJobs = operation({
  name: "list_jobs",
  summary: "list jobs: the steps of runs, with their status",
  description:
    "Lists jobs across runs by id: one job is one step in one run and scope. `error` is the whole record of its failure. Every filter must match; `next` is the `after` of the next page.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    status: listOf(jobStatus).optional().describe("Only jobs of these statuses, separated by commas."),
    run_id: runReference.optional().describe("Only jobs of this run: its number, or last."),
    workflow_id: z.coerce
      .number()
      .int()
      .positive()
      .optional()
      .describe("Only jobs of runs of this workflow."),
    workflow: z.string().optional().describe("Only of runs of the workflow with this name."),
    step: z.string().optional().describe("Only jobs of this step."),
    ...searchFields,
    text: textField.describe("Only with this text in their step's name or error messages."),
    interrupted: flag.default(false).describe("Only of unfinished runs that no process is running."),
    limit,
    after: z.coerce.number().int().min(0).optional().describe("Only jobs with a larger id."),
  }),
  output: z.object({ items: z.array(job.extend({ waits_for: waitsFor })), next: z.number().nullable() }),
  rest: { method: "GET", path: "/jobs", unprefixed: true },
  cli: [
    {
      words: "jobs",
      positional: ["[run_id]"],
      examples: [
        "daruma jobs last",
        "daruma jobs --status held,failed --json",
        "daruma jobs --since 2h --label team=core --text 'connection refused'",
      ],
    },
  ],
  handler: async (context, request) => {
    const { store, now } = context;
    const { status, run_id, workflow_id, step, limit: most, after, interrupted } = request;
    const runIds = interrupted ? await interruptedRunIds(store) : undefined;
    return listJobRecords(context, {
      limit: most,
      ...searchOf(request, now()),
      ...(status === undefined ? {} : { status }),
      ...(run_id === undefined ? {} : { runId: await resolveRun(store, run_id) }),
      ...(runIds === undefined ? {} : { runIds }),
      ...(workflow_id === undefined ? {} : { workflowId: workflow_id }),
      ...(step === undefined ? {} : { step }),
      ...(after === undefined ? {} : { afterId: after }),
    });
  },
});

type ListedJob = JobRecord & { readonly waits_for: WaitsFor | null };

/** Jobs by id. `next` is the `after` of the next page. */
async function listJobRecords(
  context: Context,
  filter: JobFilter & { readonly limit: number },
): Promise<{ items: ListedJob[]; next: number | null }> {
  const { store } = context;
  const waits = new Waits(context);
  const rows = await store.listJobs(filter);
  const runOf = runsOf(store);
  const items: ListedJob[] = [];
  for (const row of rows) {
    const run = await runOf(row.run_id);
    const record = jobRecord(run, row);
    items.push({ ...record, waits_for: await waits.of(run, record) });
  }
  return { items, next: rows.length < filter.limit ? null : rows.at(-1)!.id };
}

/** Many jobs of one page are of the same run. */
function runsOf(store: Store): (runId: number) => Promise<RunRow> {
  const known = new Map<number, Promise<RunRow>>();
  return (runId) => {
    const found = known.get(runId) ?? requireRun(store, runId);
    known.set(runId, found);
    return found;
  };
}

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
  store: "optional",
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
