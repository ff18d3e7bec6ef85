import type { RunRow } from "../core/rows.js";
import type { Store } from "../store/store.js";
import { type JobRecord, jobRecord } from "./job-record.js";
import { requireRun } from "./run-reference.js";

const RUNS_PER_PAGE = 200;

export interface HoldFilter {
  readonly runId?: number | undefined;
  readonly workflowId?: number | undefined;
}

/** The holds of one run, or of every run that is not over; only of one version of a workflow if that is named. */
export async function listHolds(store: Store, { runId, workflowId }: HoldFilter = {}): Promise<JobRecord[]> {
  const holds: JobRecord[] = [];
  const runs = runId === undefined ? unfinishedRuns(store) : [await requireRun(store, runId)];
  for await (const run of runs) {
    if (workflowId !== undefined && run.workflow_id !== workflowId) continue;
    for (const job of await store.readJobs(run.id)) {
      if (job.status === "pending_failed") holds.push(jobRecord(run, job));
    }
  }
  return holds;
}

async function* unfinishedRuns(store: Store): AsyncGenerator<RunRow> {
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      status: ["held", "running", "paused"],
      limit: RUNS_PER_PAGE,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    yield* page;
    if (page.length < RUNS_PER_PAGE) return;
    beforeId = page.at(-1)!.id;
  }
}
