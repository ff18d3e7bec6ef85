import type { AttemptRow, JobRow } from "../../../core/model/rows.js";
import type { FailedLog, ShownLine, ShownStream } from "../../../tell/formats/reported-run.js";
import type { Context } from "../../context.js";
import { getJobLogs } from "../../jobs/get-job-logs.js";
import { bytesOf, fitting, fittingLast } from "./embed-report.js";

export interface FailedLogs {
  readonly shown: readonly FailedLog[];
  /** The number of attempts of described jobs, shown or not. */
  readonly all: number;
}

const MAX_LOGS = 30;
const MAX_TAIL_LINES = 200;
/** Around the first line that looks like an error, if it stands before the last ones. */
const LINES_BEFORE_ERROR = 20;
const LINES_FROM_ERROR = 60;
const MAX_STREAM_BYTES = 100_000;
const MAX_LOGS_BYTES = 3_000_000;
const MAX_LINE_CHARS = 2_000;
const MAX_MESSAGE_CHARS = 2_000;
const READ_BYTES = 1_024 * 1_024;

/** The last failed attempt of every job that had one; those that need a look come first. */
export async function failedLogs(context: Context, runId: number): Promise<FailedLogs> {
  const found = await lastFailures(context, runId);
  const shown: FailedLog[] = [];
  let room = MAX_LOGS_BYTES;
  for (const { job, attempt } of found.slice(0, MAX_LOGS)) {
    const log = await readFailed(context, job, attempt);
    room -= bytesOf(log);
    if (room < 0) break;
    shown.push(log);
  }
  return { shown, all: found.length };
}

interface FailedAttempt {
  readonly job: JobRow;
  readonly attempt: AttemptRow;
}

const ORDER: readonly FailedLog["standing"][] = ["failed", "held", "open", "handled", "rescued"];

async function lastFailures({ store }: Context, runId: number): Promise<FailedAttempt[]> {
  const last = new Map<number, AttemptRow>();
  for (const attempt of await store.readAttempts(runId)) {
    if (attempt.status !== "failed") continue;
    const before = last.get(attempt.job_id);
    if (before === undefined || before.attempt < attempt.attempt) last.set(attempt.job_id, attempt);
  }
  if (last.size === 0) return [];
  const jobs = (await store.readJobs(runId)).filter(({ id }) => last.has(id));
  const rank = (job: JobRow): number => ORDER.indexOf(standingOf(job));
  return jobs
    .sort((one, other) => rank(one) - rank(other) || one.id - other.id)
    .map((job) => ({ job, attempt: last.get(job.id)! }));
}

function standingOf({ status, handled }: JobRow): FailedLog["standing"] {
  if (status === "failed") return handled ? "handled" : "failed";
  if (status === "held") return "held";
  return status === "completed" ? "rescued" : "open";
}

async function readFailed(context: Context, job: JobRow, row: AttemptRow): Promise<FailedLog> {
  const { attempt, error } = row;
  const streams = [];
  for (const stream of ["stderr", "stdout"] as const)
    streams.push(await readStream(context, { jobId: job.id, attempt, stream }));
  return {
    job_id: job.id,
    step: job.step,
    scope: job.scope,
    attempt,
    attempts: job.attempt_id,
    standing: standingOf(job),
    error: error === null ? null : { code: error.code, message: error.message.slice(0, MAX_MESSAGE_CHARS) },
    streams,
  };
}

interface StreamName {
  readonly jobId: number;
  readonly attempt: number;
  readonly stream: "stdout" | "stderr";
}

async function readStream(context: Context, name: StreamName): Promise<ShownStream> {
  const { size, truncated, lines } = await readLast(context, name);
  const { total, items, error_lines: errors } = lines;
  const half = MAX_STREAM_BYTES / 2;
  const tail = fittingLast(items.map(shortened), half);
  const first = tail[0]?.line ?? total + 1;
  const [error] = errors;
  const around =
    error === undefined || error >= first
      ? []
      : (
          await readLines(
            context,
            name,
            Math.max(1, error - LINES_BEFORE_ERROR),
            error + LINES_FROM_ERROR - 1,
          )
        )
          .filter(({ line }) => line < first)
          .map(shortened);
  return { stream: name.stream, total, size, truncated, items: [...fitting(around, half), ...tail] };
}

/** How long a large log is shows only when all of it was read. */
async function readLast(context: Context, name: StreamName) {
  for (;;) {
    const { size, truncated, lines } = await ask(context, name, `-${MAX_TAIL_LINES}:`);
    if (lines!.complete) return { size, truncated, lines: lines! };
  }
}

async function readLines(
  context: Context,
  name: StreamName,
  from: number,
  to: number,
): Promise<readonly ShownLine[]> {
  return (await ask(context, name, `${from}:${to}`)).lines!.items;
}

function ask(context: Context, { jobId, attempt, stream }: StreamName, lines: string) {
  return getJobLogs.handler(context, {
    ...{ job_id: jobId, attempt, stream, lines, recovery: false, regex: false },
    ...{ offset: 0, limit_bytes: READ_BYTES, encoding: "utf8" as const },
  });
}

/** Removes the position of the rest, which is useless without the file. */
function shortened(item: ShownLine): ShownLine {
  const { line, text, cut, error } = item;
  const bytes = cut?.bytes ?? Buffer.byteLength(text);
  const isLong = cut !== undefined || text.length > MAX_LINE_CHARS;
  return {
    line,
    text: text.slice(0, MAX_LINE_CHARS),
    ...(isLong ? { cut: { offset: 0, bytes } } : {}),
    ...(error === undefined ? {} : { error }),
  };
}
