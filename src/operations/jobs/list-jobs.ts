import { z } from "zod";
import type { RunRow } from "../../core/model/rows.js";
import { type JobRecord, jobRecord } from "../../report/job-record.js";
import { requireRun, resolveRun } from "../../report/lookup/run-reference.js";
import type { JobFilter, Store } from "../../store/store.js";
import { operation } from "../operation.js";
import { job } from "../record-schemas.js";
import { jobStatus, limit, listOf, runReference } from "../schemas.js";

export const listJobs = operation({
  name: "list_jobs",
  summary: "list jobs: the steps of runs, with their status",
  description:
    "Lists jobs across runs by id: one job is one step in one run and scope. `error` is the whole record of its failure. Filter by status (such as pending_failed), run, workflow or step; `next` is the `after` of the next page.",
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
    step: z.string().optional().describe("Only jobs of this step."),
    limit,
    after: z.coerce.number().int().min(0).optional().describe("Only jobs with a larger id."),
  }),
  output: z.object({ items: z.array(job), next: z.number().nullable() }),
  rest: { method: "GET", path: "/jobs", unprefixed: true },
  cli: [
    {
      words: "jobs",
      positional: ["[run_id]"],
      examples: ["daruma jobs last", "daruma jobs --status pending_failed,failed --json"],
    },
  ],
  handler: async ({ store }, { status, run_id, workflow_id, step, limit: most, after }) =>
    listJobRecords(store, {
      limit: most,
      ...(status === undefined ? {} : { status }),
      ...(run_id === undefined ? {} : { runId: await resolveRun(store, run_id) }),
      ...(workflow_id === undefined ? {} : { workflowId: workflow_id }),
      ...(step === undefined ? {} : { step }),
      ...(after === undefined ? {} : { afterId: after }),
    }),
});

/** By id; `next` is the `after` of the next page. */
async function listJobRecords(
  store: Store,
  filter: JobFilter & { readonly limit: number },
): Promise<{ items: JobRecord[]; next: number | null }> {
  const rows = await store.listJobs(filter);
  const runOf = runsOf(store);
  const items: JobRecord[] = [];
  for (const row of rows) items.push(jobRecord(await runOf(row.run_id), row));
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
