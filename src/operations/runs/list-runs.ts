import { z } from "zod";
import type { ErrorRecord } from "../../core/model/failure.js";
import type { RunRow, RunStatus } from "../../core/model/rows.js";
import type { Labels } from "../../core/text/labels.js";
import { runErrorOf } from "../../report/job-record.js";
import { isImported } from "../../report/lookup/own-runs.js";
import { interruptedRuns } from "../../report/lookup/run-owner.js";
import { type RunTimes, timesOf } from "../../report/run-report.js";
import type { Store } from "../../store/store.js";
import { operation } from "../operation.js";
import { error } from "../record-schemas.js";
import { flag, limit, listOf, runStatus } from "../schemas.js";
import { searchFields, searchOf, textField } from "../search-fields.js";
import { imported, interrupted, labels } from "./run-shapes.js";

const runItemShape = z.object({
  run_id: z.number(),
  workflow: z.string(),
  workflow_id: z.number(),
  status: runStatus,
  interrupted,
  imported,
  labels,
  file: z.string().nullable(),
  parent: z.object({ run_id: z.number(), job_id: z.number() }).nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  duration_ms: z.number().nullable(),
  error: error.nullable(),
});

const input = z.strictObject({
  status: listOf(runStatus).optional().describe("Only runs with these statuses, separated by commas."),
  workflow: z.string().optional().describe("Only runs of the workflow with this name."),
  ...searchFields,
  text: textField.describe("Only with this text in their workflow's name, labels or error messages."),
  interrupted: flag.default(false).describe("Only unfinished runs that no process is running."),
  limit: limit.default(20),
  before: z.coerce.number().int().positive().optional().describe("Only runs with a smaller number."),
});
type RunListRequest = z.output<typeof input>;

export const listRuns = operation({
  name: "list_runs",
  summary: "list runs, newest first",
  description:
    "Lists runs with their status, newest first; every filter must match. `next` is the `before` of the next page.",
  role: "viewer",
  effect: "reads",
  input,
  output: z.object({ items: z.array(runItemShape), next: z.number().nullable() }),
  rest: { method: "GET", path: "/runs" },
  cli: [
    {
      words: "list",
      positional: [],
      examples: [
        "daruma list",
        "daruma list --status failed,held --limit 5 --json",
        "daruma list --since yesterday --label team=core --text 'connection refused'",
      ],
    },
  ],
  withoutStore: "empty",
  handler: ({ store, now }, input) => listRunReports(store, input, now()),
});

/** Nothing in a store says which of the running ones these are: they are looked for page by page. */
const INTERRUPTED_PAGE = 1_000;

/** One line of `daruma list`. Times are ISO 8601. */
interface RunItem extends RunTimes {
  readonly run_id: number;
  readonly workflow: string;
  readonly workflow_id: number;
  readonly status: RunStatus;
  readonly interrupted: boolean;
  readonly imported: boolean;
  readonly labels: Labels;
  readonly file: string | null;
  readonly parent: { readonly run_id: number; readonly job_id: number } | null;
  readonly error: ErrorRecord | null;
}

/** The newest first; `next` is the `before` of the next page. */
export async function listRunReports(
  store: Store,
  request: RunListRequest,
  now: number,
): Promise<{ items: RunItem[]; next: number | null }> {
  const { limit } = request;
  const items: RunItem[] = [];
  for await (const { run, interrupted } of runsOf(store, request, now)) {
    // One more is there.
    if (items.length === limit) return { items, next: items.at(-1)!.run_id };
    items.push(itemOf(run, interrupted));
  }
  return { items, next: null };
}

async function* runsOf(
  store: Store,
  request: RunListRequest,
  now: number,
): AsyncGenerator<{ readonly run: RunRow; readonly interrupted: boolean }> {
  const { before, limit, interrupted: only } = request;
  const status = only ? (request.status ?? ["running"]).filter((each) => each === "running") : request.status;
  if (status?.length === 0) return;
  const pageSize = only ? INTERRUPTED_PAGE : limit + 1;
  const filter = { ...searchOf(request, now), ...(status === undefined ? {} : { status }), limit: pageSize };
  for (let beforeId = before; ; ) {
    const rows = await store.listRuns({ ...filter, ...(beforeId === undefined ? {} : { beforeId }) });
    const interrupted = await interruptedRuns(store, rows);
    for (const run of rows)
      if (!only || interrupted.has(run.id)) yield { run, interrupted: interrupted.has(run.id) };
    if (rows.length < pageSize) return;
    beforeId = rows.at(-1)!.id;
  }
}

function itemOf(run: RunRow, interrupted: boolean): RunItem {
  return {
    run_id: run.id,
    workflow: run.workflow,
    workflow_id: run.workflow_id,
    status: run.status,
    interrupted,
    imported: isImported(run),
    labels: run.labels ?? {},
    file: run.file,
    parent: run.parent,
    ...timesOf(run),
    error: runErrorOf(run),
  };
}
