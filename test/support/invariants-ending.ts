import { replay } from "../../src/core/decision.js";
import type { Definition } from "../../src/core/definition.js";
import type { Event, LoggedEvent } from "../../src/core/events.js";
import { newRun, type Run } from "../../src/core/run.js";
import { JobBook } from "./job-book.js";

type Log = readonly LoggedEvent[];

const TERMINAL: readonly Event["type"][] = ["run.completed", "run.failed", "run.canceled"];

export function theRunEndsOnceAndLast(log: Log): string | null {
  const at = log.findIndex(({ event }) => TERMINAL.includes(event.type));
  if (at < 0 || at === log.length - 1) return null;
  return `${log[at + 1]!.event.type} at ${log[at + 1]!.seq} follows ${log[at]!.event.type}`;
}

export function sequenceNumbersHaveNoGaps(log: Log): string | null {
  const at = log.findIndex(({ seq }, index) => seq !== index + 1);
  return at < 0 ? null : `event ${at + 1} of the log is numbered ${log[at]!.seq}`;
}

export function timeNeverRunsBack(log: Log): string | null {
  const at = log.findIndex((entry, index) => index > 0 && entry.at < log[index - 1]!.at);
  return at < 0 ? null : `event ${log[at]!.seq} is older than the one before it`;
}

export function theRunNeverStalls(log: Log): string | null {
  for (const { event } of log)
    if (event.type === "run.failed" && event.code === "STALLED") return event.message;
  return null;
}

export function everyJobIsSettledAtTheEnd(log: Log, definition: Definition): string | null {
  if (!log.some(({ event }) => TERMINAL.includes(event.type))) return null;
  const book = new JobBook(log, definition);
  const open = fold(log, definition).jobs.find(
    ({ status }) => !["completed", "failed", "skipped", "canceled"].includes(status),
  );
  return open === undefined ? null : `${book.name(open.id)} is ${open.status} at the end`;
}

function fold(log: Log, definition: Definition): Run {
  const first = log[0]!;
  if (first.event.type !== "run.created") throw new Error("the log does not begin with run.created");
  const book = new JobBook(log, definition);
  const someJob = book.jobs.keys().next().value ?? 0;
  const run = newRun(Math.floor(someJob / 10_000_000), definition, first.event, first.at);
  replay(run, log);
  return run;
}

type LastFailure = Extract<Event, { type: "job.failed" }>;

export function aCompletedRunHasNoUnhandledFailure(log: Log, definition: Definition): string | null {
  if (log.at(-1)?.event.type !== "run.completed") return null;
  const book = new JobBook(log, definition);
  const { failures, tolerated } = failuresAtTheEnd(log, definition);
  for (const [job, failure] of failures) {
    if (isExcused(failure, failures, tolerated)) continue;
    return `the run is completed though ${book.name(job)} failed with ${failure.code}`;
  }
  return null;
}

export function aFailedRunHasACause(log: Log, definition: Definition): string | null {
  const last = log.at(-1)?.event;
  if (last?.type !== "run.failed" || last.code === "STALLED") return null;
  const book = new JobBook(log, definition);
  const { failures, tolerated } = failuresAtTheEnd(log, definition);
  const unhandled = [...failures]
    .filter(([, failure]) => !isExcused(failure, failures, tolerated))
    .map(([job]) => job);
  const isSame =
    unhandled.length === last.unhandled.length && unhandled.every((job) => last.unhandled.includes(job));
  if (!isSame)
    return `the run blames ${last.unhandled.map((id) => book.name(id)).join(", ")}, unhandled are ${unhandled.map((id) => book.name(id)).join(", ")}`;
  const exceeded = log.some(({ event }) => event.type === "loop.exceeded" && event.scope === "root");
  return unhandled.length > 0 || exceeded ? null : "the run failed though every failure was handled";
}

/** Of the jobs that end as failed: the failure that made them so, and which a join has tolerated since. */
function failuresAtTheEnd(
  log: Log,
  definition: Definition,
): { failures: Map<number, LastFailure>; tolerated: Set<number> } {
  const last = new Map<number, LastFailure>();
  const tolerated = new Set<number>();
  for (const { event } of log) {
    if (event.type === "join.decided") for (const job of event.handled) tolerated.add(job);
    if (event.type !== "job.failed") continue;
    last.set(event.job, event);
    tolerated.delete(event.job);
  }
  const isFailed = new Set(
    fold(log, definition)
      .jobs.filter(({ status }) => status === "failed")
      .map(({ id }) => id),
  );
  return { failures: new Map([...last].filter(([job]) => isFailed.has(job))), tolerated };
}

function isExcused(
  failure: LastFailure,
  failures: ReadonlyMap<number, LastFailure>,
  tolerated: ReadonlySet<number>,
): boolean {
  if (failure.handled !== null || tolerated.has(failure.job)) return true;
  if (failure.partOf === null) return false;
  const source = failures.get(failure.partOf);
  return source === undefined || isExcused(source, failures, tolerated);
}
