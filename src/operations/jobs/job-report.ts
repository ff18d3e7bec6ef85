import { readFailure } from "../../core/failure/error-record.js";
import type { AttemptRow, RunRow } from "../../core/model/rows.js";
import { diagnosticsOf } from "../../report/attempt-diagnostics.js";
import { type JobRecord, jobRecord } from "../../report/job-record.js";
import { findJob, type JobRequest, requireJob } from "../../report/lookup/choose-job.js";
import { requireRun } from "../../report/lookup/run-reference.js";
import { usagesOf } from "../../report/model-usage.js";
import { iso, showOutput } from "../../report/run-report.js";
import type { JobFilter, Store } from "../../store/store.js";

/** By id; `next` is the `after` of the next page. */
export async function listJobRecords(
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

export async function readJobRecord(store: Store, id: number): Promise<JobRecord> {
  const job = await requireJob(store, id);
  return jobRecord(await requireRun(store, job.run_id), job);
}

export async function reportJobDetails(store: Store, request: JobRequest) {
  const job = await findJob(store, request);
  const { id } = job;
  const run = await requireRun(store, job.run_id);
  const attempts = (await store.readAttempts(run.id)).filter(({ job_id }) => job_id === id);
  const log = await store.readEvents(run.id);
  const usages = usagesOf(log).filter(({ job_id }) => job_id === id);
  const usageIn = new Map(usages.map(({ job_id: _job, attempt, ...usage }) => [attempt, usage]));
  return {
    ...jobRecord(run, job),
    output: showOutput(job.output),
    attempt_history: attempts
      .sort((first, second) => first.attempt - second.attempt)
      .map((attempt) => ({ ...reportAttempt(attempt), usage: usageIn.get(attempt.attempt) ?? null })),
    diagnostics: diagnosticsOf([job], log),
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
    error: error === null ? null : readFailure(error),
  };
}
