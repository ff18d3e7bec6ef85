import type { Definition } from "../../src/core/model/definition.js";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { EVENT_JOB_PATTERN } from "../../src/store/event-job.js";
import { JobBook } from "./job-book.js";
import { forgetVisits, visitsFor } from "./visits.js";

type Log = readonly LoggedEvent[];

const TERMINAL: readonly Event["type"][] = ["run.completed", "run.failed", "run.canceled"];
const ENDS: readonly Event["type"][] = ["attempt.succeeded", "attempt.failed", "attempt.stopped"];

function isEnded(log: Log): boolean {
  return TERMINAL.includes(log.at(-1)!.event.type);
}

export function attemptsAreNumberedWithoutGaps(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const last = new Map<number, number>();
  for (const { seq, event } of log) {
    if (event.type !== "attempt.started") continue;
    const due = (last.get(event.job) ?? 0) + 1;
    if (event.attempt !== due)
      return `at ${seq} ${book.name(event.job)} starts attempt ${event.attempt}, ${due} was due`;
    last.set(event.job, event.attempt);
  }
  return null;
}

export function oneAttemptOfAJobAtATime(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const running = new Map<number, number>();
  for (const { seq, event } of log) {
    if (event.type === "attempt.started") {
      if (running.has(event.job))
        return `at ${seq} ${book.name(event.job)} starts while its attempt ${running.get(event.job)} runs`;
      running.set(event.job, event.attempt);
    } else if (isEndOfAttempt(event)) {
      if (running.get(event.job) !== event.attempt)
        return `at ${seq} ${book.name(event.job)} ends attempt ${event.attempt}, which does not run`;
      running.delete(event.job);
    }
  }
  return null;
}

/** Exactly one, since an attempt that does not run cannot end (`oneAttemptOfAJobAtATime`). */
export function everyAttemptEnds(log: Log, definition: Definition): string | null {
  if (!isEnded(log)) return null;
  const book = JobBook.of(log, definition);
  const running = new Map<number, number>();
  for (const { event } of log) {
    if (event.type === "attempt.started") {
      if (running.has(event.job)) break;
      running.set(event.job, event.attempt);
    } else if (isEndOfAttempt(event)) running.delete(event.job);
  }
  for (const [job, attempt] of running) return `attempt ${attempt} of ${book.name(job)} never ends`;
  return null;
}

function isEndOfAttempt(
  event: Event,
): event is Extract<Event, { type: "attempt.succeeded" | "attempt.failed" | "attempt.stopped" }> {
  return ENDS.includes(event.type);
}

/** A job starts only after an event that made it ready, and each such event is good for one start. */
export function onlyReadyJobsStart(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const ready = new Set<number>();
  for (const { seq, event } of log) {
    switch (event.type) {
      case "jobs.ready":
        for (const id of event.jobs) ready.add(id);
        break;
      case "attempt.started":
        if (!ready.delete(event.job))
          return `at ${seq} ${book.name(event.job)} starts though it is not ready`;
        break;
      case "jobs.canceled":
      case "jobs.skipped":
        for (const id of event.jobs) ready.delete(id);
        break;
      case "scope.abandoned":
        for (const id of event.canceled) ready.delete(id);
        break;
      case "barrier.opened":
        for (const id of event.members) ready.delete(id);
        break;
      case "reset.reserved":
        ready.delete(event.job);
        break;
      default:
        break;
    }
  }
  return null;
}

/** Between the opening of a barrier and its closing no member starts. */
export function nothingStartsBehindABarrier(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const held = new Map<number, Set<number>>();
  for (const { seq, event } of log) {
    switch (event.type) {
      case "barrier.opened": {
        const members = held.get(event.barrier) ?? new Set<number>();
        for (const id of event.merged) for (const member of held.get(id) ?? []) members.add(member);
        for (const id of event.merged) held.delete(id);
        for (const id of event.members) members.add(id);
        held.set(event.barrier, members);
        break;
      }
      case "barrier.closed":
        held.delete(event.barrier);
        break;
      case "scope.abandoned":
        // Barriers into a scope that is given up are dropped with it.
        held.clear();
        break;
      case "attempt.started":
        for (const members of held.values())
          if (members.has(event.job)) return `at ${seq} ${book.name(event.job)} starts behind a barrier`;
        break;
      default:
        break;
    }
  }
  return null;
}

/** One climb for each failed attempt, unless a goto or the end of its scope took the job off the ladder. */
export function everyFailureClimbsOnce(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const climbing = new Map<number, number>();
  const climbed = new Set<string>();
  const failed = new Map<number, number>();
  const resets = new Map<number, string>();
  const ofLadder = new Map<number, boolean>();
  const visitedFor = new Map<number, number>();
  for (const { seq, event } of log) {
    switch (event.type) {
      case "attempt.failed":
        climbing.set(event.job, event.attempt);
        failed.set(event.job, event.attempt);
        break;
      case "if.failed":
        // A visit can have one at its beginning, and one more after a repair.
        climbed.delete(`${event.job} 0`);
        climbing.set(event.job, 0);
        break;
      case "jobs.unparked":
        // What the breaker kept from climbing goes on.
        for (const id of event.because === "spent" ? event.jobs : []) {
          climbed.delete(`${id} ${failed.get(id)}`);
          climbing.set(id, failed.get(id)!);
        }
        break;
      case "attempt.started":
        if (climbing.has(event.job))
          return `at ${seq} ${book.name(event.job)} starts though its last failure has climbed no ladder`;
        break;
      case "ladder.climbed": {
        const key = `${event.job} ${event.attempt}`;
        if (climbed.has(key))
          return `at ${seq} ${book.name(event.job)} climbs twice with attempt ${event.attempt}`;
        if (climbing.get(event.job) !== event.attempt)
          return `at ${seq} ${book.name(event.job)} climbs without a failed attempt ${event.attempt}`;
        climbed.add(key);
        climbing.delete(event.job);
        break;
      }
      case "rebuild.started":
        if (event.barrier === null) ofLadder.set(event.rebuild, resets.get(event.job) !== "operator");
        break;
      case "rebuild.finished":
        // The rung that wanted it could not act after all: the climb goes on.
        if (event.ok || ofLadder.get(event.rebuild) !== true || !failed.has(event.job)) break;
        climbed.delete(`${event.job} ${failed.get(event.job)}`);
        climbing.set(event.job, failed.get(event.job)!);
        break;
      case "reset.reserved":
        resets.set(event.job, event.trigger);
        // An operator takes the job off the ladder.
        if (event.trigger === "operator") climbing.delete(event.job);
        break;
      case "visit.entered":
        visitedFor.set(event.job, event.by);
        break;
      case "visit.left":
        visitedFor.delete(event.job);
        break;
      default:
        for (const id of takenOffTheLadder(event, visitedFor)) climbing.delete(id);
        if (event.type === "barrier.opened") forgetVisits(visitedFor, event.members);
    }
  }
  if (!isEnded(log)) return null;
  for (const [job, attempt] of climbing)
    return `the failure of attempt ${attempt} of ${book.name(job)} climbs no ladder`;
  return null;
}

/** Stores find the events of one job by this. */
export function anEventNamesItsJobFirst(log: Log): string | null {
  const pattern = new RegExp(EVENT_JOB_PATTERN);
  for (const { seq, event } of log) {
    const found = pattern.exec(JSON.stringify(event))?.[1];
    const wanted = "job" in event ? String(event.job) : undefined;
    if (found !== wanted) return `event ${seq} (${event.type}) does not name its job right after its type`;
  }
  return null;
}

/** With a job that a goto sweeps up goes the step that its run list is at. */
function takenOffTheLadder(event: Event, visitedFor: ReadonlyMap<number, number>): readonly number[] {
  switch (event.type) {
    case "barrier.opened":
      return [...event.members, ...visitsFor(visitedFor, event.members)];
    case "scope.abandoned":
      return event.canceled;
    default:
      return [];
  }
}
