import { DarumaError } from "../core/errors.js";
import { type AttemptRow, attemptAt, type JobRow, type JobStatus } from "../core/rows.js";
import type { JobFilter, Store } from "../store/store.js";
import { diagnosticsOf } from "./attempt-diagnostics.js";
import { usagesOf } from "./model-usage.js";
import { readLog } from "./replayed-log.js";
import { requireRun } from "./run-reference.js";
import { iso, showOutput } from "./run-report.js";

/** One line of a list of jobs. `name` is the step, as seed 002 calls it. */
export interface JobItem {
  readonly id: number;
  readonly run_id: number;
  readonly workflow_id: number;
  readonly name: string;
  readonly step: string;
  readonly scope: string;
  readonly status: JobStatus;
  readonly attempt_id: number;
  readonly visit: number;
  readonly handled: boolean;
  readonly dead_letter: boolean;
  readonly due_at: string | null;
  readonly error: JobError | null;
  readonly failure_handler_id: number | null;
}

/** The same wherever a job is told; what an attempt printed stands with the attempt. */
export interface JobError {
  readonly code: string;
  readonly message: string;
  /** Null where no attempt failed, but the job itself: its expression, its place in the graph. */
  readonly class: string | null;
  readonly exit_code: number | null;
}

export async function requireJob(store: Store, id: number): Promise<JobRow> {
  const job = await store.readJob(id);
  if (job === null) throw new DarumaError("JOB_NOT_FOUND", `there is no job ${id}`);
  return job;
}

/** By id; `next` is the `after` of the next page. */
export async function listJobItems(
  store: Store,
  filter: JobFilter & { readonly limit: number },
): Promise<{ items: JobItem[]; next: number | null }> {
  const rows = await store.listJobs(filter);
  const workflowOf = workflowIds(store);
  const items: JobItem[] = [];
  for (const row of rows) items.push(itemOf(row, await workflowOf(row.run_id)));
  return { items, next: rows.length < filter.limit ? null : rows.at(-1)!.id };
}

/** Many jobs of one page are of the same run. */
function workflowIds(store: Store): (runId: number) => Promise<number> {
  const known = new Map<number, Promise<number>>();
  return (runId) => {
    const found = known.get(runId) ?? requireRun(store, runId).then((run) => run.workflow_id);
    known.set(runId, found);
    return found;
  };
}

export async function jobItem(store: Store, id: number): Promise<JobItem> {
  const job = await requireJob(store, id);
  return itemOf(job, (await requireRun(store, job.run_id)).workflow_id);
}

export function itemOf(job: JobRow, workflowId: number): JobItem {
  return {
    id: job.id,
    run_id: job.run_id,
    workflow_id: workflowId,
    name: job.step,
    step: job.step,
    scope: job.scope,
    status: job.status,
    attempt_id: attemptAt(job.status, job.attempt_id),
    visit: job.visit,
    handled: job.handled,
    dead_letter: job.dead_letter,
    due_at: job.due_at === null ? null : iso(job.due_at),
    error: job.error === null ? null : errorOf(job.error),
    failure_handler_id: job.failure_handler_id,
  };
}

function errorOf(error: NonNullable<JobRow["error"]>): JobError {
  const { code, message } = error;
  return "class" in error
    ? { code, message, class: error.class, exit_code: error.exit_code }
    : { code, message, class: null, exit_code: null };
}

export async function reportJobDetails(store: Store, id: number) {
  const job = await requireJob(store, id);
  const run = await requireRun(store, job.run_id);
  const attempts = (await store.readAttempts(run.id)).filter(({ job_id }) => job_id === id);
  const diagnostics = await diagnosticsOf(await store.readJobs(run.id), readLog(store, run.id));
  const usages = (await usagesOf(readLog(store, run.id))).filter(({ job_id }) => job_id === id);
  const usageIn = new Map(usages.map(({ job_id: _job, attempt, ...usage }) => [attempt, usage]));
  return {
    ...itemOf(job, run.workflow_id),
    output: showOutput(job.output),
    attempts: attempts
      .sort((first, second) => first.attempt - second.attempt)
      .map((attempt) => ({ ...reportAttempt(attempt), usage: usageIn.get(attempt.attempt) ?? null })),
    diagnostics: diagnostics.filter(({ job_id }) => job_id === id),
  };
}

/** Its token stays here: it marks the attempt's processes. */
function reportAttempt({ attempt, visit, worker, status, started_at, finished_at, error }: AttemptRow) {
  return {
    attempt,
    visit,
    worker,
    status,
    started_at: iso(started_at),
    finished_at: finished_at === null ? null : iso(finished_at),
    error,
  };
}
