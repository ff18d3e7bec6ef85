import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { Definition } from "../core/model/definition.js";
import { workExaminer } from "../core/model/examined-work.js";
import type { JobStatus } from "../core/model/rows.js";
import { parseStoredDefinition } from "../core/model/stored-definition.js";
import { logFile } from "../run/worker/attempt-paths.js";
import type { Store } from "../store/store.js";
import { listHolds, type WaitingJob } from "./holds.js";
import { blindSteps } from "./lookup/blind-steps.js";
import { isReusable } from "./lookup/own-runs.js";
import { requireRun } from "./lookup/run-reference.js";
import { type WayBack, wayBackTo } from "./lookup/ways-back.js";
import type { JobReport, RunReport } from "./run-report.js";

/** What the description of a run's end needs in addition to its report. */
export interface RunSummary {
  readonly report: RunReport;
  /** `6 completed`, `1 failed (handled)`; what there is none of is left out. */
  readonly counts: readonly string[];
  readonly failures: readonly FailedStep[];
  /** What waits for somebody: holds and open questions, also those of child runs that hold it up. */
  readonly holds: readonly WaitingJob[];
  /** What the queue has given up. */
  readonly deadLetters: readonly DeadLetter[];
  /**
   * The file that `run FILE --reuse` can run for what is missing. Null if a new run cannot reuse this one, or would not
   * notice what has changed.
   */
  readonly reuse_file: string | null;
  /** Where the work can be sent back to that the failed steps have examined. */
  readonly ways_back: readonly WayBack[];
  /** What the last steps of a completed run printed, if it is short. */
  readonly endings: readonly { readonly step: string; readonly text: string }[];
}

export type DeadLetter = Pick<JobReport, "id" | "step" | "scope">;

export interface FailedStep {
  readonly job_id: number;
  readonly step: string;
  readonly family: string | null;
  readonly scope: string;
  readonly code: string;
  readonly message: string;
  readonly how: string | null;
  readonly said: string | null;
  /** Equal for those that failed alike; null: nothing says of what it failed. */
  readonly signature: string | null;
  /** Nothing else deals with it, as it does with that of a repair. */
  readonly unanswered: boolean;
  readonly attempt: number;
  /** Null if it failed without an attempt, or the attempt printed nothing there. */
  readonly stdout_tail: string | null;
  readonly stderr_tail: string | null;
  readonly stdout_file: string | null;
  readonly stderr_file: string | null;
}

const NO_STEPS: ReadonlySet<string> = new Set();
const MAX_ENDINGS = 3;
const MAX_ENDING_BYTES = 4_096;
const MAX_ENDING_LINES = 12;
/** The order in which statuses are listed. */
const STATUS_ORDER: readonly JobStatus[] = [
  "completed",
  "failed",
  "held",
  "running",
  "waiting",
  "recovering",
  "ready",
  "blocked",
  "canceled",
  "skipped",
];

/** Summarises a run. Jobs are read once, and only those that are described are kept, because there may be very many. */
export async function summariseRun(
  store: Store,
  outputDir: string,
  report: RunReport,
  jobs: AsyncIterable<JobReport> | Iterable<JobReport> = report.jobs,
): Promise<RunSummary> {
  const run = await requireRun(store, report.run_id);
  const text = await store.readDefinition(run.definition_hash);
  const definition = text === null ? null : parseStoredDefinition(text, run.definition_hash);
  const last = definition !== null && report.status === "completed" ? lastSteps(definition) : NO_STEPS;
  // Jobs of a batch differ in their command lines, and running what is left is their whole point.
  const blind = definition === null || definition.batch !== undefined ? NO_STEPS : blindSteps(definition);
  const { counts, takenOver, failed, mayWait, endings, unseen } = await lookThrough(jobs, last, blind);
  const log = (job: JobReport, stream: "stdout" | "stderr"): string =>
    logFile(
      outputDir,
      { workflowId: run.workflow_id, jobId: job.id, runId: run.id, attempt: job.attempts },
      stream,
    );
  const unhandled = failed.filter((job) => !job.handled);
  const unanswered = await unansweredFailures(store, unhandled);
  return {
    report,
    counts: tellCounts(counts, takenOver),
    failures: orderFailures(unhandled, report).map((job) => ({
      ...failedStep(job, (stream) => log(job, stream)),
      unanswered: unanswered.has(job.id),
    })),
    holds: [
      ...(mayWait ? await listHolds(store, { runId: run.id }) : []),
      ...(
        await Promise.all(report.held_below.map(({ run_id }) => listHolds(store, { runId: run_id })))
      ).flat(),
    ],
    deadLetters: deadLettersAmong(failed),
    ways_back:
      definition === null
        ? []
        : await waysBack(
            store,
            report,
            definition,
            unhandled.filter(({ id }) => unanswered.has(id)),
          ),
    reuse_file: isReusable(run) && report.needs_program === null && !unseen ? run.file : null,
    endings: readEndings(endings, (job) => log(job, "stdout")),
  };
}

export function deadLettersAmong(jobs: readonly JobReport[]): DeadLetter[] {
  return jobs
    .filter(({ dead_letter, status }) => dead_letter && status === "failed")
    .map(({ id, step, scope }) => ({ id, step, scope }));
}

interface SeenJobs {
  /** By status: how many failures were unhandled, and how many were handled. */
  readonly counts: ReadonlyMap<JobStatus, readonly [unhandled: number, handled: number]>;
  readonly takenOver: number;
  readonly failed: readonly JobReport[];
  readonly mayWait: boolean;
  /** A job has completed of which nothing says what files it read. */
  readonly unseen: boolean;
  /** Completed jobs of the last steps. If there is one more than can be listed, none is. */
  readonly endings: readonly JobReport[];
}

async function lookThrough(
  jobs: AsyncIterable<JobReport> | Iterable<JobReport>,
  last: ReadonlySet<string>,
  blind: ReadonlySet<string>,
): Promise<SeenJobs> {
  const counts = new Map<JobStatus, [number, number]>();
  const failed: JobReport[] = [];
  const endings: JobReport[] = [];
  let takenOver = 0;
  let unseen = false;
  for await (const job of jobs) {
    const { status, scope, step, handled } = job;
    const alike = counts.get(status) ?? [0, 0];
    alike[handled ? 1 : 0] += 1;
    counts.set(status, alike);
    if (job.taken_over && status === "completed") takenOver += 1;
    if (status === "completed" && blind.has(step)) unseen = true;
    if (status === "failed") failed.push(job);
    const isEnding = scope === "root" && status === "completed" && last.has(step);
    if (isEnding && endings.length <= MAX_ENDINGS) endings.push(job);
  }
  return {
    counts,
    takenOver,
    failed,
    endings,
    unseen,
    mayWait: counts.has("held") || counts.has("waiting"),
  };
}

function tellCounts(counts: SeenJobs["counts"], takenOver: number): string[] {
  const taken = takenOver === 0 ? "" : ` (${takenOver} taken over)`;
  return STATUS_ORDER.flatMap((status) => {
    const [unhandled, handled] = counts.get(status) ?? [0, 0];
    return [
      ...(unhandled > 0 ? [`${unhandled} ${status}${status === "completed" ? taken : ""}`] : []),
      ...(handled > 0 ? [`${handled} ${status} (handled)`] : []),
    ];
  });
}

/** The one that the run failed of comes first. */
function orderFailures(failed: readonly JobReport[], { error }: RunReport): JobReport[] {
  const isNamed = (job: JobReport): boolean => job.id === error?.job_id;
  return [...failed].sort((first, second) => Number(isNamed(second)) - Number(isNamed(first)));
}

/** More failures than this are of one cause rather than of somebody's work. */
const MAX_EXAMINED = 3;

async function waysBack(
  store: Store,
  { run_id: runId }: RunReport,
  definition: Definition,
  failed: readonly JobReport[],
): Promise<WayBack[]> {
  if (failed.length > MAX_EXAMINED) return [];
  const examined = workExaminer(definition);
  const ways = new Map<string, WayBack>();
  for (const { step, scope } of failed)
    for (const each of examined(step)) {
      const way = wayBackTo(each, scope, await store.listJobs({ runId, step: each.id }));
      if (way !== null) ways.set(way.name, way);
    }
  return [...ways.values()];
}

async function unansweredFailures(store: Store, failed: readonly JobReport[]): Promise<ReadonlySet<number>> {
  const [first] = failed;
  if (first === undefined) return new Set();
  const rows = await store.listJobs({ runId: first.run_id, status: ["failed"] });
  return new Set(rows.filter(({ unanswered }) => unanswered).map(({ id }) => id));
}

function failedStep(
  job: JobReport,
  file: (stream: "stdout" | "stderr") => string,
): Omit<FailedStep, "unanswered"> {
  const { stdout_tail: out, stderr_tail: err } = job.error?.cause ??
    job.error ?? { stdout_tail: "", stderr_tail: "" };
  const hasRun = job.attempts > 0;
  return {
    job_id: job.id,
    step: job.step,
    family: job.family,
    scope: job.scope,
    attempt: job.attempts,
    code: job.error?.code ?? "UNKNOWN",
    message: job.error?.message ?? "failed",
    how: job.error?.how ?? null,
    said: job.error?.said ?? null,
    signature: job.error?.signature ?? null,
    stdout_tail: out.trim() === "" ? null : out,
    stderr_tail: err.trim() === "" ? null : err,
    stdout_file: hasRun ? file("stdout") : null,
    stderr_file: hasRun ? file("stderr") : null,
  };
}

function readEndings(jobs: readonly JobReport[], file: (job: JobReport) => string): RunSummary["endings"] {
  if (jobs.length > MAX_ENDINGS) return [];
  return jobs.flatMap((job) => {
    const text = readShortText(file(job));
    return text === null ? [] : [{ step: job.step, text }];
  });
}

/** Steps that nothing depends on and that do not only serve to repair or follow others. */
function lastSteps({ steps }: Definition): ReadonlySet<string> {
  const last = new Set<string>();
  for (const { id, start } of steps) if (start === "auto") last.add(id);
  for (const { dependsOn } of steps) for (const group of dependsOn) for (const id of group) last.delete(id);
  return last;
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
