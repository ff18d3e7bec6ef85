import { excerptOf } from "../../core/model/excerpt.js";
import type { ErrorRecord } from "../../core/model/failure.js";
import type { AttemptRow, JobStatus } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";
import type { DecidedJob } from "../decided-jobs.js";
import type { HandledChild } from "../handled-in-children.js";
import { heldBelowText } from "../lookup/held-below.js";
import { nameOf } from "../lookup/job-name.js";
import { type JobReport, openReport, type RunReport } from "../run-report.js";
import { type RunSummary, summariseRun } from "../run-summary.js";
import { decisionText } from "../words/decided-text.js";
import { childText, handlerText, strictReason } from "../words/handled-text.js";

const MAX_LINES = 30;

/** What every report of a run is made from. */
export interface ReportedRun {
  readonly summary: RunSummary;
  /** Sorted by their ids. */
  readonly jobs: readonly ReportedJob[];
}

export interface ReportedJob {
  readonly name: string;
  readonly status: JobStatus;
  readonly handled: boolean;
  /** What handled its failure; null: it was not handled. */
  readonly handledBy: string | null;
  /** What was handled, decided or is open in its child run, though it completed; null: nothing. */
  readonly below: string | null;
  /** `skipped by ann`: a decision about its hold put an end to it; null: none did. */
  readonly decided: string | null;
  /** With `--strict` it counts as a failure, though it did not end as one. */
  readonly isStrictFailure: boolean;
  readonly takenOver: boolean;
  readonly error: Pick<ErrorRecord, "code" | "message"> | null;
  /** `test failed (EXIT_1)`: the handled failure because of which it was skipped; null: it was not, or for another reason. */
  readonly skippedBy: string | null;
  /** The lines of the failed attempt that tell what broke. */
  readonly printed: string;
  readonly attempts: number;
  /** Its last attempt succeeded. */
  readonly hasPassed: boolean;
  /** All attempts together, without the time between them. */
  readonly durationMs: number;
  /** Failures of the attempts before the last one. */
  readonly earlierFailures: readonly EarlierFailure[];
}

interface EarlierFailure {
  readonly attempt: number;
  readonly code: string;
  readonly message: string;
}

/** Reads a run for a report. With `strict`, as if the run had been started with it. */
export async function readReportedRun(
  store: Store,
  outputDir: string,
  runId: number,
  strict: boolean,
): Promise<ReportedRun> {
  const { report: recorded, jobs } = await openReport(store, runId);
  const report = { ...recorded, strict: recorded.strict || strict };
  const handledBy = new Map(report.handled_failures.map((each) => [each.job_id, handlerText(each)]));
  const children = new Map<number, HandledChild[]>();
  for (const child of report.handled_in_children)
    children.set(child.under_job_id, [...(children.get(child.under_job_id) ?? []), child]);
  const decided = new Map(report.decided.map((each) => [each.job_id, each]));
  const codes = new Map(report.handled_failures.map(({ job_id, code }) => [job_id, code]));
  const skippedBy = new Map(
    report.skipped_by_failure.map(({ job_id, failure, failure_job_id: by }) => [
      job_id,
      `${failure} failed (${codes.get(by) ?? "UNKNOWN"})`,
    ]),
  );
  const attempts = attemptsByJob(await store.readAttempts(runId));
  const kept: ReportedJob[] = [];
  // Outputs may be large: only what a report tells of is kept of each job as it passes.
  async function* passing(): AsyncGenerator<JobReport> {
    for await (const job of jobs) {
      kept.push({
        ...reportedJob(job, attempts.get(job.id) ?? [], decided.has(job.id)),
        handledBy: handledBy.get(job.id) ?? null,
        skippedBy: skippedBy.get(job.id) ?? null,
        ...besideItsEnd(decided.get(job.id), job.status === "completed" ? (children.get(job.id) ?? []) : []),
        ...heldAs(job, report),
      });
      yield job;
    }
  }
  const summary = await summariseRun(store, outputDir, report, passing());
  return { summary, jobs: kept };
}

function besideItsEnd(
  decided: DecidedJob | undefined,
  below: readonly HandledChild[],
): Pick<ReportedJob, "below" | "decided" | "isStrictFailure"> {
  const own = decided === undefined ? [] : [decided];
  const end = { handled_failures: [], decided: own, handled_in_children: below };
  return {
    below: below.length === 0 ? null : below.map(childText).join("; "),
    decided: decided === undefined ? null : decisionText(decided),
    isStrictFailure: strictReason(end) !== null,
  };
}

/** A step whose child run waits for a decision is as one that does so itself. */
function heldAs({ id }: JobReport, { held_below }: RunReport): Pick<ReportedJob, "status" | "error"> | null {
  const children = held_below.filter(({ under_job_id }) => under_job_id === id);
  if (children.length === 0) return null;
  return { status: "held", error: { code: "CHILD_RUN", message: heldBelowText(children) } };
}

/** It passed, though not at once. One that somebody completed by hand has not passed. */
export function isRescued({ status, hasPassed, earlierFailures }: ReportedJob): boolean {
  return status === "completed" && hasPassed && earlierFailures.length > 0;
}

/** Nothing went on from its failure: neither a step that handled it, nor another attempt. With `strict` a step that handled it is not enough. */
export function isBroken(
  { status, handled, isStrictFailure }: ReportedJob,
  { strict }: Pick<RunReport, "strict">,
): boolean {
  return status === "held" || (status === "failed" && (!handled || strict)) || (isStrictFailure && strict);
}

/** It failed, and what the file or a person says of that was done: neither a failure nor a success. */
export function isHandled(job: ReportedJob, report: Pick<RunReport, "strict">): boolean {
  return (job.status === "failed" || job.below !== null || job.decided !== null) && !isBroken(job, report);
}

/** Its error, or what stands for one where the failure is its child run's. */
export function errorOf({ error, below }: ReportedJob): Pick<ErrorRecord, "code" | "message"> {
  if (below !== null) return { code: "CHILD_RUN", message: below };
  return { code: error?.code ?? "UNKNOWN", message: error?.message ?? "failed" };
}

/** `failed and was handled by fallback`. */
export function handledWords({ handledBy, below, decided }: ReportedJob): string {
  if (decided !== null) return `failed and was ${decided}`;
  if (below !== null) return "completed, but its child run is not clean";
  return `failed and was handled${handledBy === null ? "" : ` by ${handledBy}`}`;
}

function attemptsByJob(attempts: readonly AttemptRow[]): Map<number, AttemptRow[]> {
  const byJob = new Map<number, AttemptRow[]>();
  for (const attempt of attempts) {
    const ofJob = byJob.get(attempt.job_id);
    if (ofJob === undefined) byJob.set(attempt.job_id, [attempt]);
    else ofJob.push(attempt);
  }
  return byJob;
}

function reportedJob(
  job: JobReport,
  attempts: readonly AttemptRow[],
  isDecided: boolean,
): Omit<ReportedJob, "handledBy" | "skippedBy" | "below" | "decided" | "isStrictFailure"> {
  // A job that somebody completes has no error any more.
  const error = job.error ?? (isDecided ? (attempts.at(-1)?.error ?? null) : null);
  const lines = error === null ? [] : excerptOf(error, MAX_LINES);
  return {
    name: nameOf(job.step, job.scope),
    status: job.status,
    handled: job.handled,
    takenOver: job.taken_over,
    error: error === null ? null : { code: error.code, message: error.message },
    printed: lines.map(({ text }) => text).join("\n"),
    attempts: job.attempts,
    hasPassed: attempts.at(-1)?.status === "succeeded",
    durationMs: attempts.reduce((sum, { started_at, finished_at }) => {
      return sum + Math.max(0, (finished_at ?? started_at) - started_at);
    }, 0),
    earlierFailures: attempts
      .filter(({ attempt, status }) => status === "failed" && attempt < job.attempts)
      .map(({ attempt, error: failure }) => ({
        attempt,
        code: failure?.code ?? "UNKNOWN",
        message: failure?.message ?? "failed",
      })),
  };
}

/** What an attempt that failed has printed, as far as a report shows it. */
export interface FailedLog {
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly attempt: number;
  readonly attempts: number;
  /** What became of its job: nothing goes on from here, a step has handled it, or a later attempt completed. */
  readonly standing: "failed" | "held" | "handled" | "rescued" | "open";
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly streams: readonly ShownStream[];
}

export interface ShownStream {
  readonly stream: "stderr" | "stdout";
  readonly total: number;
  readonly size: number;
  /** The attempt has printed more than its workflow allows. */
  readonly truncated: boolean;
  /** Some lines before them, between them or in them may be left out: their numbers tell. */
  readonly items: readonly ShownLine[];
}

/** As `get_job_logs` gives it. */
export interface ShownLine {
  readonly line: number;
  readonly text: string;
  /** The line is longer: where it lies in the file. */
  readonly cut?: { readonly offset: number; readonly bytes: number } | undefined;
  readonly error?: true | undefined;
}
