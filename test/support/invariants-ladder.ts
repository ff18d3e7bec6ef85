import type { Definition } from "../../src/core/model/definition.js";
import type { Event, JobRaise, LoggedEvent } from "../../src/core/model/events.js";
import { itemsPrefix, JobBook } from "./job-book.js";
import { forgetVisits, visitsFor } from "./visits.js";

type Log = readonly LoggedEvent[];

/** After a failure a job starts again only if something in the log has granted it. */
export function noAttemptWithoutAReservation(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const failed = new Set<number>();
  for (const { seq, event } of log) {
    if (event.type === "attempt.failed" || event.type === "if.failed") failed.add(event.job);
    else if (event.type === "attempt.started" && failed.has(event.job))
      return `at ${seq} ${book.name(event.job)} starts again after a failure, and nothing granted it`;
    else for (const id of grantsOf(event, book)) failed.delete(id);
  }
  return null;
}

function grantsOf(event: Event, book: JobBook): Iterable<number> {
  switch (event.type) {
    case "restart.granted":
    case "rule.reserved":
    case "retry.scheduled":
    case "reset.reserved":
    case "requeue.scheduled":
    case "visit.entered":
    case "undo.entered":
    case "finally.entered":
    case "job.let_through":
      return [event.job];
    case "jobs.unparked":
      return event.because === "spent" ? [] : event.jobs;
    case "remediation.finished":
      return event.ok ? [event.job] : [];
    case "edge.taken":
      return event.status === "selected" ? [event.target] : [];
    case "barrier.closed":
      return event.invalidated;
    case "jobs.retried":
      return [...event.jobs, ...event.reblocked];
    case "scopes.opened": {
      const prefix = itemsPrefix(book.of(event.job));
      return [...book.jobs.values()].filter(({ scope }) => scope.startsWith(prefix)).map(({ id }) => id);
    }
    default:
      return [];
  }
}

/** `max_retries` is attempts in all since the run began or an operator's retry; lost ones are not charged. */
export function rulesKeepTheirAttempts(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const charged = new Map<number, number>();
  const add = (job: number, by: number) => charged.set(job, (charged.get(job) ?? 0) + by);
  for (const { seq, event } of log) {
    if (event.type === "attempt.started") add(event.job, 1);
    if (event.type === "restart.granted" || event.type === "job.parked") add(event.job, -1);
    if (event.type === "jobs.unparked" && event.because === "spent") for (const id of event.jobs) add(id, 1);
    if (event.type === "attempt.stopped" && (event.because === "interrupted" || event.because === "reset"))
      add(event.job, -1);
    if (event.type === "jobs.retried")
      for (const id of [...event.jobs, ...event.reblocked]) charged.set(id, 0);
    if (event.type === "undo.entered" || event.type === "finally.entered") charged.set(event.job, 0);
    if (event.type !== "rule.reserved") continue;
    if (event.next !== event.attempt + 1)
      return `at ${seq} ${book.name(event.job)} reserves attempt ${event.next} after ${event.attempt}`;
    if (charged.get(event.job)! >= event.max_attempts)
      return `at ${seq} ${book.name(event.job)} has had ${charged.get(event.job)} attempts of ${event.max_attempts}`;
  }
  return null;
}

/** Each raise begins where the one before it ended, or at what the step asks for, and ends above that. */
export function resourcesOnlyGrow(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const had = new Map<string, number>();
  for (const { seq, event } of log) {
    for (const { job, resource, from, to } of raisesIn(event)) {
      const asked = book.of(job).step.definition.resources;
      const first = (resource === "memory" ? asked?.memoryBytes : asked?.runtimeMs) ?? null;
      const name = `${book.name(job)} ${resource}`;
      if (from !== (had.get(name) ?? first)) return `at ${seq} ${name} is raised from ${from}`;
      if (from !== null && to <= from) return `at ${seq} ${name} is raised from ${from} to ${to}`;
      had.set(name, to);
    }
  }
  return null;
}

function raisesIn(event: Event): readonly JobRaise[] {
  if (event.type === "jobs.retried") return event.raised ?? [];
  return event.type === "rule.reserved" && event.raised !== undefined
    ? [{ job: event.job, ...event.raised }]
    : [];
}

/** A recovery script runs after its reservation, before the job is ready, and never beside an attempt. */
export function recoveryScriptsRunBetweenReservationAndReady(
  log: Log,
  definition: Definition,
): string | null {
  const book = JobBook.of(log, definition);
  // Once, and again after each crash within the limit.
  const most = 1 + Math.max(1, definition.maxRecoveries);
  const reserved = new Set<number>();
  const tries = new Map<number, number>();
  const atWork = new Set<number>();
  for (const { seq, event } of log) {
    switch (event.type) {
      case "rule.reserved":
        if (event.script !== null) reserved.add(event.job);
        // A pause may have kept an earlier one from beginning until a goto dropped it.
        tries.delete(event.job);
        break;
      case "recovery.started": {
        if (!reserved.has(event.job)) return `at ${seq} a script runs for ${book.name(event.job)} unreserved`;
        const due = (tries.get(event.job) ?? 0) + 1;
        if (event.try !== due || due > most)
          return `at ${seq} the script of ${book.name(event.job)} begins try ${event.try}, at most ${most}`;
        tries.set(event.job, due);
        atWork.add(event.job);
        break;
      }
      case "recovery.interrupted":
        if (!atWork.delete(event.job)) return `at ${seq} a script is interrupted that does not run`;
        tries.set(event.job, tries.get(event.job)! - 1);
        break;
      case "recovery.finished":
        if (!atWork.delete(event.job)) return `at ${seq} a script ends that does not run`;
        tries.delete(event.job);
        reserved.delete(event.job);
        break;
      case "jobs.ready":
        for (const id of event.jobs)
          if (atWork.has(id)) return `at ${seq} ${book.name(id)} is ready while its script runs`;
        break;
      case "attempt.started":
        if (atWork.has(event.job)) return `at ${seq} ${book.name(event.job)} starts while its script runs`;
        break;
      default:
        break;
    }
  }
  return null;
}

/** A hold is decided once, and only while it stands. A goto, an operator's retry or the end of its scope drops it. */
export function holdsAreResolvedOnce(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const held = new Set<number>();
  const visitedFor = new Map<number, number>();
  for (const { seq, event } of log) {
    if (event.type === "visit.entered") visitedFor.set(event.job, event.by);
    if (event.type === "visit.left") visitedFor.delete(event.job);
    if (event.type === "job.held") held.add(event.job);
    for (const id of dropsHold(event, visitedFor)) held.delete(id);
    if (event.type === "barrier.opened") forgetVisits(visitedFor, event.members);
    if (event.type === "hold.resolved" && !held.delete(event.job))
      return `at ${seq} ${book.name(event.job)} is resolved though it is not held`;
    if (event.type === "attempt.started" && held.has(event.job))
      return `at ${seq} ${book.name(event.job)} starts though it is held`;
  }
  return null;
}

function dropsHold(event: Event, visitedFor: ReadonlyMap<number, number>): readonly number[] {
  switch (event.type) {
    case "jobs.retried":
      return [...event.jobs, ...event.reblocked];
    case "scope.abandoned":
      return event.canceled;
    case "barrier.opened":
      return [...event.members, ...visitsFor(visitedFor, event.members)];
    default:
      return [];
  }
}

/** Each failure is found handled, or not, at most once. */
export function noFailureIsSettledTwice(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const settled = new Set<number>();
  for (const { seq, event } of log) {
    if (event.type === "job.failed") settled.delete(event.job);
    if (event.type === "jobs.retried") for (const id of event.rerouted ?? []) settled.delete(id);
    if (event.type !== "routes.settled") continue;
    for (const id of [...event.handled, ...event.unhandled]) {
      if (settled.has(id)) return `at ${seq} the failure of ${book.name(id)} is settled for the second time`;
      settled.add(id);
    }
  }
  for (const { seq, event } of log) {
    if (event.type === "run.completed" && new Set(event.handled).size < event.handled.length)
      return `at ${seq} a job is named twice among the handled failures`;
  }
  return null;
}

/** In a paused run nothing new starts; a script that an engine lost may begin again as the pause is lifted. */
export function nothingStartsInAPausedRun(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  let paused = false;
  for (const { seq, event } of log) {
    if (event.type === "run.paused") paused = true;
    else if (event.type === "run.unpaused" || event.type === "run.reopened") paused = false;
    const starts = event.type === "attempt.started" || (event.type === "recovery.started" && event.try === 1);
    if (paused && starts) return `at ${seq} something of ${book.name(event.job)} starts in a paused run`;
  }
  return null;
}

/** `held` is for runs in which nothing is at work. */
export function aHeldRunHasNothingUnderWay(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const running = new Set<number>();
  for (const { seq, event } of log) {
    if (
      event.type === "attempt.started" ||
      event.type === "recovery.started" ||
      event.type === "rebuild.started"
    )
      running.add(event.job);
    else if (
      event.type === "attempt.succeeded" ||
      event.type === "attempt.failed" ||
      event.type === "attempt.stopped" ||
      event.type === "recovery.interrupted" ||
      event.type === "recovery.finished" ||
      event.type === "rebuild.finished" ||
      event.type === "workspace.discarded"
    )
      running.delete(event.job);
    if (event.type !== "run.held") continue;
    for (const id of running) return `at ${seq} the run is held though ${book.name(id)} runs`;
  }
  return null;
}
