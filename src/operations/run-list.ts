import type { RunRow, RunStatus } from "../core/rows.js";
import type { Store } from "../store/store.js";
import { type RunTimes, timesOf } from "./run-report.js";

export interface RunListRequest {
  readonly status?: readonly RunStatus[] | undefined;
  readonly workflow?: string | undefined;
  readonly limit: number;
  readonly before?: number | undefined;
}

/** One line of `daruma list`. Times are ISO 8601. */
export interface RunItem extends RunTimes {
  readonly run_id: number;
  readonly workflow: string;
  readonly workflow_id: number;
  readonly status: RunStatus;
  readonly file: string | null;
  readonly parent: { readonly run_id: number; readonly job_id: number } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export async function listRunReports(
  store: Store,
  { status, workflow, limit, before }: RunListRequest,
): Promise<{ items: RunItem[]; next: number | null }> {
  const rows = await store.listRuns({
    limit,
    ...(status === undefined ? {} : { status }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(before === undefined ? {} : { beforeId: before }),
  });
  return { items: rows.map(itemOf), next: rows.length < limit ? null : rows.at(-1)!.id };
}

function itemOf(run: RunRow): RunItem {
  return {
    run_id: run.id,
    workflow: run.workflow,
    workflow_id: run.workflow_id,
    status: run.status,
    file: run.file,
    parent: run.parent,
    ...timesOf(run),
    error: run.error,
  };
}
