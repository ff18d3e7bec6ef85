import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { Definition } from "../core/model/definition.js";
import { jobStatusWord } from "../core/model/job-status-word.js";
import type { JobStatus } from "../core/model/rows.js";
import { parseStoredDefinition } from "../core/model/stored-definition.js";
import type { Store } from "../store/store.js";
import { logFile } from "../worker/attempt-paths.js";
import { listHolds, type WaitingJob } from "./holds.js";
import { requireRun } from "./lookup/run-reference.js";
import type { JobReport, RunReport } from "./run-report.js";

/** What the end of a run is told from, beside its report. */
export interface RunSummary {
  readonly report: RunReport;
  /** `6 completed`, `1 failed (handled)`; what there is none of is left out. */
  readonly counts: readonly string[];
  readonly failures: readonly FailedStep[];
  /** What waits for somebody: holds and open questions. */
  readonly holds: readonly WaitingJob[];
  /** What the last steps of a completed run printed, if it is short. */
  readonly endings: readonly { readonly step: string; readonly text: string }[];
}

export interface FailedStep {
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly code: string;
  readonly message: string;
  readonly attempt: number;
  /** Null: it failed without an attempt, or the attempt printed nothing there. */
  readonly stdout_tail: string | null;
  readonly stderr_tail: string | null;
  readonly stdout_file: string | null;
  readonly stderr_file: string | null;
}

const MAX_ENDINGS = 3;
const MAX_ENDING_BYTES = 4_096;
const MAX_ENDING_LINES = 12;
/** In the order in which they are told. */
const STATUS_ORDER: readonly JobStatus[] = [
  "completed",
  "failed",
  "pending_failed",
  "running",
  "waiting",
  "recovering",
  "ready",
  "blocked",
  "canceled",
  "skipped",
];

export async function summariseRun(store: Store, outputDir: string, report: RunReport): Promise<RunSummary> {
  const run = await requireRun(store, report.run_id);
  const failed = report.jobs.filter((job) => job.status === "failed" && !job.handled);
  const log = (job: JobReport, stream: "stdout" | "stderr"): string =>
    logFile(
      outputDir,
      { workflowId: run.workflow_id, jobId: job.id, runId: run.id, attempt: job.attempts },
      stream,
    );
  const failures = orderFailures(failed, report).map((job) => failedStep(job, (stream) => log(job, stream)));
  const endings =
    report.status === "completed"
      ? await readEndings(store, run.definition_hash, report, (job) => log(job, "stdout"))
      : [];
  const mayWait = report.jobs.some(({ status }) => status === "pending_failed" || status === "waiting");
  const holds = mayWait ? await listHolds(store, { runId: run.id }) : [];
  return { report, counts: countStatuses(report.jobs), failures, holds, endings };
}

function countStatuses(jobs: readonly JobReport[]): string[] {
  return STATUS_ORDER.flatMap((status) => {
    const alike = jobs.filter((job) => job.status === status);
    const handled = alike.filter((job) => job.handled).length;
    const word = jobStatusWord(status);
    return [
      ...(alike.length > handled ? [`${alike.length - handled} ${word}`] : []),
      ...(handled > 0 ? [`${handled} ${word} (handled)`] : []),
    ];
  });
}

/** The one that the run failed of comes first. */
function orderFailures(failed: readonly JobReport[], { error }: RunReport): JobReport[] {
  const isNamed = (job: JobReport): boolean => job.id === error?.job_id;
  return [...failed].sort((first, second) => Number(isNamed(second)) - Number(isNamed(first)));
}

function failedStep(job: JobReport, file: (stream: "stdout" | "stderr") => string): FailedStep {
  const { stdout_tail: out, stderr_tail: err } = job.error?.cause ??
    job.error ?? { stdout_tail: "", stderr_tail: "" };
  const hasRun = job.attempts > 0;
  return {
    job_id: job.id,
    step: job.step,
    scope: job.scope,
    attempt: job.attempts,
    code: job.error?.code ?? "UNKNOWN",
    message: job.error?.message ?? "failed",
    stdout_tail: out.trim() === "" ? null : out,
    stderr_tail: err.trim() === "" ? null : err,
    stdout_file: hasRun ? file("stdout") : null,
    stderr_file: hasRun ? file("stderr") : null,
  };
}

async function readEndings(
  store: Store,
  hash: string,
  report: RunReport,
  file: (job: JobReport) => string,
): Promise<RunSummary["endings"]> {
  const definition = await store.readDefinition(hash);
  if (definition === null) return [];
  const last = lastSteps(parseStoredDefinition(definition, hash));
  const jobs = report.jobs.filter(
    (job) => job.scope === "root" && job.status === "completed" && last.has(job.step),
  );
  if (jobs.length > MAX_ENDINGS) return [];
  return jobs.flatMap((job) => {
    const text = readShortText(file(job));
    return text === null ? [] : [{ step: job.step, text }];
  });
}

/** Steps that nothing depends on and that do not only serve to repair or follow others. */
function lastSteps(definition: Definition): Set<string> {
  const needed = new Set(definition.steps.flatMap((step) => step.dependsOn.flat()));
  return new Set(
    definition.steps.filter((step) => step.start === "auto" && !needed.has(step.id)).map((step) => step.id),
  );
}

function readShortText(file: string): string | null {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 || size > MAX_ENDING_BYTES) return null;
  const text = readStart(file, size).replace(/\s+$/, "");
  return text === "" || text.includes("\0") || text.split("\n").length > MAX_ENDING_LINES ? null : text;
}

function readStart(file: string, bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  const fd = openSync(file, "r");
  try {
    return buffer.toString("utf8", 0, readSync(fd, buffer, 0, bytes, 0));
  } finally {
    closeSync(fd);
  }
}
