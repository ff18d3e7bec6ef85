import type { FailureClass } from "../core/failure.js";
import type { JobRow, RunRow } from "../core/rows.js";
import type { Store } from "../store/store.js";
import { requireRun } from "./run-reference.js";
import { troubledJob } from "./troubled-job.js";

/** A job that waits for somebody to decide, as `daruma holds --json` prints it. */
export interface HoldReport {
  readonly run_id: number;
  readonly workflow: string;
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly error: { readonly code: string; readonly message: string; readonly exit_code: number | null };
  readonly class: FailureClass | null;
  readonly attempts: number;
  /** The queue has given it up. */
  readonly dead_letter: boolean;
  /** The last lines that the failed attempt printed on stderr. */
  readonly stderr_tail: string;
}

/** Enough to see what happened; `daruma logs` has the rest. */
const TAIL_LINES = 20;
const RUNS_PER_PAGE = 200;

export interface HoldFilter {
  readonly runId?: number | undefined;
  readonly workflowId?: number | undefined;
}

/** The holds of one run, or of every run that is not over; only of one version of a workflow if that is named. */
export async function listHolds(store: Store, { runId, workflowId }: HoldFilter = {}): Promise<HoldReport[]> {
  const holds: HoldReport[] = [];
  const runs = runId === undefined ? unfinishedRuns(store) : [await requireRun(store, runId)];
  for await (const run of runs) {
    if (workflowId !== undefined && run.workflow_id !== workflowId) continue;
    for (const job of await store.readJobs(run.id)) {
      if (job.status === "pending_failed") holds.push(holdOf(run.workflow, job));
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

function holdOf(workflow: string, job: JobRow): HoldReport {
  const { error } = job;
  const full = error !== null && "class" in error ? error : null;
  return {
    ...troubledJob(workflow, job, full),
    dead_letter: job.dead_letter,
    stderr_tail: lastLines(full?.stderr_tail ?? ""),
  };
}

function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}
