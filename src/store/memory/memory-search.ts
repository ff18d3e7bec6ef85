import type { AttemptRow, JobRow, RunRow } from "../../core/model/rows.js";
import type { JobFilter, RunFilter, RunSearch } from "../filters.js";
import { asksForUnfinishedRunsOnly } from "../job-rules.js";
import { UNFINISHED_RUN_STATUSES } from "../run-rules.js";
import { isUnanswered, type UnansweredJob, unansweredJob } from "../unanswered.js";
import { type MemoryTables, parseRow, type RunTables } from "./memory-tables.js";

const CAPITALS = /[A-Z]+/g;

export function listRuns(tables: MemoryTables, filter: RunFilter): RunRow[] {
  const { status, parentJob, cause, text, signature, limit, beforeId } = filter;
  return [...tables.runs.values()]
    .map((each) => ({ each, run: parseRow<RunRow>(each.run) }))
    .filter(({ run }) => status === undefined || status.includes(run.status))
    .filter(({ run }) => isSought(run, filter))
    .filter(({ run }) => parentJob === undefined || run.parent?.job_id === parentJob)
    .filter(({ run }) => cause === undefined || run.cause === cause)
    .filter(({ run }) => filter.recovered === undefined || (run.recoveries ?? 0) > 0)
    .filter(({ run }) => filter.waiting === undefined || (run.waiting ?? 0) > 0)
    .filter(({ run }) => beforeId === undefined || run.id < beforeId)
    .filter(({ each }) => signature === undefined || jobsWith(each, { signature }).size > 0)
    .filter(({ each, run }) => {
      if (text === undefined || run.search_text?.includes(text) === true) return true;
      return jobsWith(each, { text }).size > 0;
    })
    .map(({ run }) => run)
    .sort((a, b) => b.id - a.id)
    .slice(0, limit);
}

export function isSought(run: RunRow, { workflow, since, until, labels = [] }: RunSearch): boolean {
  if (workflow !== undefined && run.workflow !== workflow) return false;
  if (since !== undefined && run.created_at < since) return false;
  if (until !== undefined && run.created_at >= until) return false;
  const own = new Map(Object.entries(run.labels ?? {}));
  return labels.every(({ key, value }) => (value === null ? own.has(key) : own.get(key) === value));
}

/** The jobs that have a failed attempt with this signature, or with this in its words. */
function jobsWith(
  { attempts }: RunTables,
  { text, signature }: Pick<RunFilter, "text" | "signature">,
): Set<number> {
  const found = new Set<number>();
  for (const stored of attempts.values()) {
    const attempt = parseRow<AttemptRow>(stored);
    if (attempt.signature === null) continue;
    const isFound =
      signature === undefined
        ? attempt.search_text?.includes(text ?? "") === true
        : attempt.signature.startsWith(signature);
    if (isFound) found.add(attempt.job_id);
  }
  return found;
}

export function listJobs(tables: MemoryTables, filter: JobFilter): JobRow[] {
  const { limit, afterId } = filter;
  return runsOf(tables, filter)
    .flatMap((run) => jobsOf(run, filter))
    .filter((job) => afterId === undefined || job.id > afterId)
    .sort((a, b) => a.id - b.id)
    .slice(0, limit);
}

function runsOf(tables: MemoryTables, filter: JobFilter): RunTables[] {
  const { runId, runIds, workflowId } = filter;
  const unfinishedOnly = asksForUnfinishedRunsOnly(filter);
  const ofOneRun = runId === undefined ? null : tables.runs.get(runId);
  const runs = ofOneRun === null ? [...tables.runs.values()] : ofOneRun === undefined ? [] : [ofOneRun];
  return runs.filter(({ run: stored }) => {
    const run = parseRow<RunRow>(stored);
    if (unfinishedOnly && !UNFINISHED_RUN_STATUSES.includes(run.status)) return false;
    if (runIds !== undefined && !runIds.includes(run.id)) return false;
    return (workflowId === undefined || run.workflow_id === workflowId) && isSought(run, filter);
  });
}

function jobsOf(run: RunTables, { status, step, deadLetter, text, signature }: JobFilter): JobRow[] {
  const withText = text === undefined ? null : jobsWith(run, { text });
  const withSignature = signature === undefined ? null : jobsWith(run, { signature });
  return Array.from(run.jobs.values(), (job) => parseRow<JobRow>(job))
    .filter((job) => status === undefined || status.includes(job.status))
    .filter((job) => step === undefined || job.step === step)
    .filter((job) => deadLetter === undefined || job.dead_letter)
    .filter((job) => withSignature === null || withSignature.has(job.id))
    .filter((job) => withText === null || withText.has(job.id) || lower(job.step).includes(text!));
}

/** As databases do it without a language. */
function lower(text: string): string {
  return text.replace(CAPITALS, (capitals) => capitals.toLowerCase());
}

export function listUnanswered(tables: MemoryTables, limit: number): UnansweredJob[] {
  const found = [...tables.runs.values()].flatMap((each) => {
    const run = parseRow<RunRow>(each.run);
    const jobs = Array.from(each.jobs.values(), (job) => parseRow<JobRow>(job));
    const attempts = Array.from(each.attempts.values(), (attempt) => parseRow<AttemptRow>(attempt));
    return jobs
      .filter((job) => isUnanswered(run, job))
      .map((job) => {
        const isLast = (a: AttemptRow) => a.job_id === job.id && a.attempt === job.attempt_id;
        return unansweredJob(run, job, attempts.find(isLast));
      });
  });
  return found.sort((a, b) => b.id - a.id).slice(0, limit);
}
