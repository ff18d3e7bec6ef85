import type { Definition } from "../../src/core/model/definition.js";
import type { Event, LoggedEvent, RunOptions } from "../../src/core/model/events.js";
import { type BookedJob, itemsPrefix, JobBook } from "./job-book.js";

type Log = readonly LoggedEvent[];

function optionsOf(log: Log): RunOptions {
  const created = log[0]?.event;
  if (created?.type !== "run.created") throw new Error("the log does not begin with run.created");
  return created.options;
}

export function retriesOfAVisitStayWithinMax(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const { retry_max: retryMax } = optionsOf(log);
  const visits = new Map<number, number>();
  const retries = new Map<string, number>();
  for (const { seq, event } of log) {
    if (event.type === "attempt.started") visits.set(event.job, event.visit);
    // A round of the queue has the retries of a visit anew.
    if (event.type === "requeue.scheduled") retries.delete(`${event.job} ${visits.get(event.job)}`);
    if (event.type !== "retry.scheduled") continue;
    const key = `${event.job} ${visits.get(event.job)}`;
    const count = (retries.get(key) ?? 0) + 1;
    retries.set(key, count);
    const max = retryMax ?? book.of(event.job).step.definition.onFail.retry?.max ?? 0;
    if (count > max)
      return `at ${seq} ${book.name(event.job)} is retried ${count} times in a visit, max is ${max}`;
    if (event.retry !== count)
      return `at ${seq} ${book.name(event.job)} calls its retry ${count} number ${event.retry}`;
  }
  return null;
}

/** Retries of a job and all other transitions of its scope; a new generation of an item starts from nothing. */
export function loopBudgetIsKept(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const max = optionsOf(log).max_loops ?? definition.maxLoops;
  const loops = new Map<string, number>();
  const retries = new Map<number, number>();
  const spend = (job: number): number => {
    const { scope } = book.of(job);
    loops.set(scope, (loops.get(scope) ?? 0) + 1);
    return loops.get(scope)!;
  };
  for (const { seq, event } of log) {
    if (event.type === "scopes.opened") forgetItems(book, book.of(event.job), loops, retries);
    if (event.type === "jobs.retried")
      for (const id of [...event.jobs, ...event.reblocked]) retries.delete(id);
    if (isTransition(event)) {
      const taken = spend(event.job);
      if (taken > max)
        return `at ${seq} ${book.name(event.job)} takes transition ${taken} of its scope, max_loops is ${max}`;
      if (event.loop !== taken)
        return `at ${seq} ${book.name(event.job)} calls loop ${taken} of its scope number ${event.loop}`;
    }
    if (event.type === "loop.exceeded") {
      const own = event.transition === "retry" ? (retries.get(event.job) ?? 0) : 0;
      const count = own + (loops.get(event.scope) ?? 0);
      if (event.count !== count || event.retries !== own || count < max)
        return `at ${seq} ${book.name(event.job)} is said to be at ${event.count} of ${max}, and is at ${count}`;
    }
    // What undoes or finishes a run has its own bound.
    if (event.type === "retry.scheduled" && book.of(event.job).step.atEnd === null) {
      retries.set(event.job, (retries.get(event.job) ?? 0) + 1);
      const taken = retries.get(event.job)! + (loops.get(book.of(event.job).scope) ?? 0);
      if (taken > max)
        return `at ${seq} the retry of ${book.name(event.job)} is transition ${taken}, max_loops is ${max}`;
    }
  }
  return null;
}

type Transition = Extract<Event, { type: "goto.taken" | "edge.taken" | "remediation.finished" }>;

function isTransition(event: Event): event is Transition {
  if (event.type === "remediation.finished") return event.ok;
  return event.type === "goto.taken" || (event.type === "edge.taken" && event.counted);
}

function forgetItems(
  book: JobBook,
  opener: BookedJob,
  loops: Map<string, number>,
  retries: Map<number, number>,
): void {
  const prefix = itemsPrefix(opener);
  for (const scope of [...loops.keys()]) if (scope.startsWith(prefix)) loops.delete(scope);
  for (const id of [...retries.keys()]) if (book.of(id).scope.startsWith(prefix)) retries.delete(id);
}

/** Counted per job and outcome, over all visits; anew for what an operator begins again and in a new generation. */
export function gotosStayWithinTheirBound(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const taken = new Map<number, { failure: number; success: number }>();
  for (const { seq, event } of log) {
    if (event.type === "jobs.retried") for (const id of [...event.jobs, ...event.reblocked]) taken.delete(id);
    if (event.type === "operator.goto") for (const id of event.jobs ?? []) taken.delete(id);
    if (event.type === "scopes.opened") {
      const prefix = itemsPrefix(book.of(event.job));
      for (const id of [...taken.keys()]) if (book.of(id).scope.startsWith(prefix)) taken.delete(id);
    }
    if (event.type !== "goto.taken") continue;
    const { onFail, onSuccess } = book.of(event.job).step.definition;
    const { gotoMax } = event.trigger === "failure" ? onFail : onSuccess;
    const counts = taken.get(event.job) ?? { failure: 0, success: 0 };
    counts[event.trigger] += 1;
    taken.set(event.job, counts);
    const count = counts[event.trigger];
    if (gotoMax !== null && count > gotoMax)
      return `at ${seq} ${book.name(event.job)} goes back ${count} times after ${event.trigger}, its bound is ${gotoMax}`;
    if (event.goto !== count || event.max !== gotoMax)
      return `at ${seq} ${book.name(event.job)} calls its goto ${count} of ${gotoMax} number ${event.goto} of ${event.max}`;
  }
  return null;
}

/** A goto leads to an ancestor in the same scope. */
export function gotosLeadBackWithinTheScope(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  for (const { seq, event } of log) {
    if (event.type !== "goto.taken") continue;
    const source = book.of(event.job);
    const target = book.of(event.target);
    if (source.scope !== target.scope)
      return `at ${seq} ${book.name(event.job)} jumps out of its scope to ${book.name(event.target)}`;
    if (!dependsOn(source, target))
      return `at ${seq} ${book.name(event.job)} jumps to ${event.to}, which it does not depend on`;
  }
  return null;
}

function dependsOn(job: BookedJob, ancestor: BookedJob): boolean {
  const seen = new Set([job.step]);
  for (const step of seen) for (const before of step.groups.flat()) seen.add(before);
  return job.step !== ancestor.step && seen.has(ancestor.step);
}

/**
 * Every group of `depends_on` had a member that completed (or whose failure was to be passed over) and still holds; with
 * `needs: settled` it is enough that all members have ended.
 */
export function dependentsWaitForWhatTheyNeed(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  if (optionsOf(log).only !== null) return null;
  const met = new Set<number>();
  const joined = new Set<number>();
  const completed = new Set<number>();
  const ended = new Set<number>();
  /** Ready with all that they need: a retry of what had ended does not block them again. */
  const cleared = new Set<number>();
  const released = new ReleasedTargets();
  for (const { seq, event } of log) {
    released.note(event);
    if (event.type === "jobs.ready")
      for (const id of event.jobs)
        if (findUnmet(book, book.of(id), { met, joined, ended }) === null) cleared.add(id);
    for (const id of begunAgain(event)) cleared.delete(id);
    if (event.type === "attempt.started" && !released.has(event.job) && !cleared.has(event.job)) {
      const lacking = findUnmet(book, book.of(event.job), { met, joined, ended });
      if (lacking !== null) return `at ${seq} ${book.name(event.job)} starts without ${lacking}`;
    }
    // What follows a success is given up with its scope; the success stays.
    if (event.type === "attempt.succeeded" || (event.type === "hold.resolved" && event.action === "complete"))
      completed.add(event.job);
    if (event.type === "barrier.closed") for (const id of event.invalidated) completed.delete(id);
    if (event.type === "scope.abandoned") for (const id of completed) met.add(id);
    noteWhatHolds(book, event, met, joined);
    noteWhatEnded(book, event, ended);
  }
  return null;
}

/** A transition starts its target whatever that depends on. */
class ReleasedTargets {
  private readonly jobs = new Set<number>();
  private readonly behind = new Map<number, Set<number>>();

  has(job: number): boolean {
    return this.jobs.has(job);
  }

  note(event: Event): void {
    if (event.type === "edge.taken" && event.status === "selected" && !event.counted)
      this.jobs.add(event.target);
    if (event.type === "barrier.opened") {
      const targets = this.behind.get(event.barrier) ?? new Set<number>();
      for (const id of event.merged) for (const target of this.behind.get(id) ?? []) targets.add(target);
      if (event.forced) targets.add(event.target);
      this.behind.set(event.barrier, targets);
    }
    if (event.type !== "barrier.closed") return;
    for (const id of event.invalidated) this.jobs.delete(id);
    for (const id of this.behind.get(event.barrier) ?? []) this.jobs.add(id);
    this.behind.delete(event.barrier);
  }
}

interface Standing {
  readonly met: ReadonlySet<number>;
  readonly joined: ReadonlySet<number>;
  /** Failed, skipped or canceled. */
  readonly ended: ReadonlySet<number>;
}

function findUnmet(book: JobBook, job: BookedJob, { met, joined, ended }: Standing): string | null {
  if (job.step.closes !== null && !joined.has(job.id)) return "its join";
  for (const [index, group] of job.step.groups.entries()) {
    if (job.step.branchGroups[index] === true) continue;
    const ids = group.map((member) => book.resolve(member, job.scope)?.id ?? -1);
    const takesAnyEnd = job.step.definition.needs === "settled";
    const holds =
      ids.some((id) => met.has(id)) || (takesAnyEnd && ids.every((id) => met.has(id) || ended.has(id)));
    if (!holds) return group.map((member) => member.definition.id).join("|");
  }
  return null;
}

function noteWhatHolds(book: JobBook, event: Event, met: Set<number>, joined: Set<number>): void {
  switch (event.type) {
    case "attempt.succeeded":
      if (!book.followsUp(event.job)) met.add(event.job);
      break;
    case "job.released":
      met.add(event.job);
      break;
    case "job.failed":
      if (event.handled !== null) met.add(event.job);
      break;
    case "job.stood_in":
    case "job.reused":
      met.add(event.job);
      break;
    case "hold.resolved":
      if (event.action === "skip" || (event.action === "complete" && !book.followsUp(event.job)))
        met.add(event.job);
      break;
    case "jobs.retried":
      for (const id of [...event.jobs, ...event.reblocked]) joined.delete(id);
      break;
    case "join.decided":
      if (event.satisfied) joined.add(event.job);
      break;
    case "barrier.closed":
      for (const id of [...event.invalidated, ...event.retired]) {
        met.delete(id);
        joined.delete(id);
      }
      break;
    case "scopes.opened": {
      const prefix = itemsPrefix(book.of(event.job));
      for (const id of [...met, ...joined]) {
        if (!book.of(id).scope.startsWith(prefix)) continue;
        met.delete(id);
        joined.delete(id);
      }
      break;
    }
    default:
      break;
  }
}

/** Jobs whose visit is over: they wait for what they need again. */
function begunAgain(event: Event): readonly number[] {
  if (event.type === "jobs.retried") return [...event.jobs, ...event.reblocked];
  return event.type === "barrier.closed" ? [...event.invalidated, ...event.retired] : [];
}

function noteWhatEnded(book: JobBook, event: Event, ended: Set<number>): void {
  switch (event.type) {
    case "job.failed":
      if (!event.routed) ended.add(event.job);
      break;
    case "routes.settled":
      for (const id of [...event.handled, ...event.unhandled]) ended.add(id);
      break;
    case "jobs.canceled":
    case "jobs.skipped":
      for (const id of event.jobs) ended.add(id);
      break;
    case "scope.abandoned":
      for (const id of [...event.canceled, ...event.stopping]) ended.add(id);
      break;
    case "attempt.started":
      ended.delete(event.job);
      break;
    case "jobs.retried":
      for (const id of [...event.jobs, ...event.reblocked, ...(event.rerouted ?? [])]) ended.delete(id);
      break;
    case "barrier.closed":
      for (const id of [...event.invalidated, ...event.retired]) ended.delete(id);
      break;
    case "scopes.opened": {
      const prefix = itemsPrefix(book.of(event.job));
      for (const id of ended) if (book.of(id).scope.startsWith(prefix)) ended.delete(id);
      break;
    }
    default:
      break;
  }
}

/** A run list enters one visit of a target at a time, and each visit that was entered is for a request. */
export function visitsAnswerRequests(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const requests = new Map<string, number>();
  for (const { seq, event } of log) {
    if (event.type === "visit.requested")
      requests.set(`${event.job} ${event.by}`, (requests.get(`${event.job} ${event.by}`) ?? 0) + 1);
    if (event.type !== "visit.entered") continue;
    if (!requests.has(`${event.job} ${event.by}`))
      return `at ${seq} ${book.name(event.job)} is visited for ${book.name(event.by)}, which did not ask`;
  }
  return null;
}

/** The visit of a later attempt is never an earlier one. */
export function visitsNeverFallBack(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const last = new Map<number, number>();
  for (const { seq, event } of log) {
    if (event.type !== "attempt.started") continue;
    const before = last.get(event.job) ?? 0;
    if (event.visit < before)
      return `at ${seq} ${book.name(event.job)} falls back from visit ${before} to ${event.visit}`;
    last.set(event.job, event.visit);
  }
  return null;
}
