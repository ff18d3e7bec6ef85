import type { ErrorRecord } from "../../core/model/failure.js";
import type { RunRow, RunStatus } from "../../core/model/rows.js";
import { runErrorOf } from "../../report/job-record.js";
import { isImported } from "../../report/lookup/own-runs.js";
import { interruptedRuns } from "../../report/lookup/run-owner.js";
import { type RunTimes, timesOf } from "../../report/run-report.js";
import type { Store } from "../../store/store.js";

/** Nothing in a store says which runs these are: they are looked for page by page. */
const INTERRUPTED_PAGE = 200;

export interface RunListRequest {
  readonly status?: readonly RunStatus[] | undefined;
  readonly workflow?: string | undefined;
  readonly limit: number;
  readonly before?: number | undefined;
  readonly interrupted?: boolean | undefined;
}

/** One line of `daruma list`. Times are ISO 8601. */
export interface RunItem extends RunTimes {
  readonly run_id: number;
  readonly workflow: string;
  readonly workflow_id: number;
  readonly status: RunStatus;
  readonly interrupted: boolean;
  readonly imported: boolean;
  readonly file: string | null;
  readonly parent: { readonly run_id: number; readonly job_id: number } | null;
  readonly error: ErrorRecord | null;
}

/** The newest first; `next` is the `before` of the next page. */
export async function listRunReports(
  store: Store,
  request: RunListRequest,
): Promise<{ items: RunItem[]; next: number | null }> {
  const { limit } = request;
  const items: RunItem[] = [];
  for await (const { run, interrupted } of runsOf(store, request)) {
    // One more is there.
    if (items.length === limit) return { items, next: items.at(-1)!.run_id };
    items.push(itemOf(run, interrupted));
  }
  return { items, next: null };
}

async function* runsOf(
  store: Store,
  { status, workflow, before, limit, interrupted: only = false }: RunListRequest,
): AsyncGenerator<{ readonly run: RunRow; readonly interrupted: boolean }> {
  const pageSize = only ? INTERRUPTED_PAGE : limit + 1;
  for (let beforeId = before; ; ) {
    const rows = await store.listRuns({
      limit: pageSize,
      ...(status === undefined ? {} : { status }),
      ...(workflow === undefined ? {} : { workflow }),
      ...(beforeId === undefined ? {} : { beforeId }),
    });
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
    file: run.file,
    parent: run.parent,
    ...timesOf(run),
    error: runErrorOf(run),
  };
}
