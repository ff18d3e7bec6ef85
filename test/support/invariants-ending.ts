import type { Definition } from "../../src/core/model/definition.js";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { foldOf } from "./fold-of.js";
import { JobBook } from "./job-book.js";

type Log = readonly LoggedEvent[];

const TERMINAL: readonly Event["type"][] = ["run.completed", "run.failed", "run.canceled"];

/** Nothing follows the end but an operator's wish to go on. */
export function theRunEndsOnceAndLast(log: Log): string | null {
  for (const [index, { event }] of log.entries()) {
    const next = log[index + 1];
    if (!TERMINAL.includes(event.type) || next === undefined || next.event.type === "run.reopened") continue;
    return `${next.event.type} at ${next.seq} follows ${event.type}`;
  }
  return null;
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

export function aDeadlineCancelsNoSooner(log: Log): string | null {
  let deadlineAt: number | null = null;
  for (const { event, at, seq } of log) {
    if (event.type === "time.counted") deadlineAt = event.deadline_at;
    else if (event.type === "time.stopped") deadlineAt = null;
    else if (event.type === "run.cancel_requested" && event.code === "DEADLINE")
      if (deadlineAt === null || at < deadlineAt) return `the cancel at ${seq} is before the deadline`;
  }
  return null;
}

export function aHoldExpiresNoSooner(log: Log): string | null {
  const dueAt = new Map<number, number>();
  const retried = new Set<number>();
  let isPaused = false;
  for (const { event, at, seq } of log) {
    if (event.type === "run.paused") isPaused = true;
    else if (event.type === "run.unpaused" || event.type === "run.reopened") isPaused = false;
    else if (event.type === "job.held" || event.type === "human.asked")
      dueAt.set(event.job, event.due_at ?? Number.POSITIVE_INFINITY);
    else if (event.type === "hold.resolved" || event.type === "human.answered") {
      const due = dueAt.get(event.job);
      dueAt.delete(event.job);
      if (event.expired !== true) continue;
      if (due === undefined || at < due) return `${event.type} at ${seq} is before its time`;
      if (isPaused) return `${event.type} at ${seq} though the run is paused`;
      if (event.type !== "hold.resolved" || event.action !== "retry") continue;
      if (retried.has(event.job)) return `the expiry at ${seq} retries the job a second time`;
      retried.add(event.job);
    }
  }
  return null;
}

export function everyJobIsSettledAtTheEnd(log: Log, definition: Definition): string | null {
  if (!TERMINAL.includes(log.at(-1)!.event.type)) return null;
  const book = JobBook.of(log, definition);
  const open = foldOf(log, definition).jobs.find(
    ({ status }) => !["completed", "failed", "skipped", "canceled"].includes(status),
  );
  return open === undefined ? null : `${book.name(open.id)} is ${open.status} at the end`;
}

type LastFailure = Extract<Event, { type: "job.failed" }>;

export function aCompletedRunHasNoUnhandledFailure(log: Log, definition: Definition): string | null {
  if (log.at(-1)?.event.type !== "run.completed") return null;
  const book = JobBook.of(log, definition);
  const { failures, tolerated } = failuresAtTheEnd(log, definition);
  for (const [job, failure] of failures) {
    if (isExcused(failure, failures, tolerated) || routeMayHaveWorkedOut(log, job)) continue;
    return `the run is completed though ${book.name(job)} failed with ${failure.code}`;
  }
  return null;
}

export function aFailedRunHasACause(log: Log, definition: Definition): string | null {
  const last = log.at(-1)?.event;
  if (last?.type !== "run.failed" || last.code === "STALLED") return null;
  const book = JobBook.of(log, definition);
  const { failures, tolerated } = failuresAtTheEnd(log, definition);
  const unexcused = [...failures].filter(([, failure]) => !isExcused(failure, failures, tolerated));
  const unhandled = unexcused.filter(([job]) => !routeMayHaveWorkedOut(log, job)).map(([job]) => job);
  const missing = unhandled.find((job) => !last.unhandled.includes(job));
  if (missing !== undefined) return `the run does not blame ${book.name(missing)}, which nothing handled`;
  const innocent = last.unhandled.find((id) => !unexcused.some(([job]) => job === id));
  if (innocent !== undefined) return `the run blames ${book.name(innocent)}, which is excused`;
  const exceeded = log.some(({ event }) => event.type === "loop.exceeded" && event.scope === "root");
  const givenUp = last.code === "FAIL_FAST" || last.code === "RUN_CANCELED";
  return last.unhandled.length > 0 || exceeded || givenUp
    ? null
    : "the run failed though every failure was handled";
}

/** Along the edges that failures took, from each step's last one: does any step complete after it was routed to? */
export function handledImpliesACompletedHandler(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  for (const { seq, event } of log) {
    if (event.type !== "routes.settled") continue;
    const before = log.slice(0, seq);
    for (const job of event.handled)
      if (!routeMayHaveWorkedOut(before, job))
        return `at ${seq} the failure of ${book.name(job)} counts as handled though no step on its way completed`;
  }
  return null;
}

function routeMayHaveWorkedOut(log: Log, job: number): boolean {
  const last = edgesOf(log, job, 0).at(-1);
  return last !== undefined && leadsToSuccess(log, last, new Set());
}

/** Which of a step's later visits an edge led to is for the core to know; here any of them will do. */
function leadsToSuccess(log: Log, { seq: taken, target }: TakenEdge, seen: Set<number>): boolean {
  if (seen.has(taken)) return false;
  seen.add(taken);
  if (log.some(({ seq, event }) => seq > taken && isSuccess(event, target))) return true;
  return edgesOf(log, target, taken).some((edge) => leadsToSuccess(log, edge, seen));
}

interface TakenEdge {
  readonly seq: number;
  readonly target: number;
}

function edgesOf(log: Log, job: number, after: number): TakenEdge[] {
  return log.flatMap(({ seq, event }) =>
    seq > after && event.type === "edge.taken" && event.on === "failure" && event.job === job
      ? [{ seq, target: event.target }]
      : [],
  );
}

function isSuccess(event: Event, job: number): boolean {
  switch (event.type) {
    case "attempt.succeeded":
      return event.job === job;
    case "hold.resolved":
      return event.job === job && event.action === "complete";
    case "job.failed":
      return event.job === job && event.handled !== null;
    case "join.decided":
      return event.handled.includes(job);
    default:
      return false;
  }
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
    foldOf(log, definition)
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
  if (failure.part_of === null) return false;
  const source = failures.get(failure.part_of);
  return source === undefined || isExcused(source, failures, tolerated);
}
