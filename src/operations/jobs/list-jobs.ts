import { z } from "zod";
import type { RunRow } from "../../core/model/rows.js";
import type { JobFilter } from "../../store/filters.js";
import type { Store } from "../../store/store.js";
import { type JobRecord, jobRecord } from "../../tell/job-record.js";
import { interruptedRunIds } from "../../tell/lookup/run-owner.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { job } from "../record-schemas.js";
import { flag, jobStatus, limit, listOf, runReference } from "../schemas.js";
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
