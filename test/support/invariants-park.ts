import type { Definition } from "../../src/core/model/definition.js";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { JobBook } from "./job-book.js";

type Log = readonly LoggedEvent[];

/** What a rung pays with: none of it may follow from an attempt that was parked, unless its breaker was spent. */
const COSTS: ReadonlySet<Event["type"]> = new Set([
  "rule.reserved",
  "retry.scheduled",
  "requeue.scheduled",
  "remediation.started",
  "goto.taken",
  "job.held",
  "job.failed",
  "loop.exceeded",
]);

/** A parked attempt takes no retry, no attempt of a rule, no round and no loop, and is no sign of missing progress. */
export function aParkedAttemptCostsNothing(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const free = new Set<number>();
  for (const { seq, event } of log) {
    if (event.type === "attempt.failed" && event.breakers !== undefined && event.no_progress !== null)
      return `at ${seq} ${book.name(event.job)} makes no progress though its breaker is open`;
    if (event.type === "job.parked") free.add(event.job);
    if (event.type === "jobs.unparked" && event.because === "spent")
      for (const id of event.jobs) free.delete(id);
    if (event.type === "attempt.started" || event.type === "if.failed") free.delete(event.job);
    if (event.type === "hold.resolved") free.delete(event.job);
    // What could not be set aside or built fails the job that waited for it, whatever it did before.
    if (event.type === "job.failed" && event.code === "RESET_FAILED") continue;
    if ("job" in event && COSTS.has(event.type) && free.has(event.job))
      return `at ${seq} ${book.name(event.job)} pays for a parked attempt: ${event.type}`;
  }
  return null;
}

/** Who is parked waits until a breaker, a person, a goto or an end lets it go, and does nothing before. */
export function everyParkedJobIsReleasedOrClimbs(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const parked = new Set<number>();
  const climbing = new Set<number>();
  const visitedFor = new Map<number, number>();
  for (const { seq, event } of log) {
    if (event.type === "visit.entered") visitedFor.set(event.job, event.by);
    if (event.type === "job.parked") parked.add(event.job);
    if (event.type === "jobs.unparked")
      for (const id of event.jobs) {
        if (!parked.delete(id)) return `at ${seq} ${book.name(id)} goes on though it was not parked`;
        if (event.because === "spent") climbing.add(id);
      }
    if (event.type === "ladder.climbed") climbing.delete(event.job);
    const dropped = new Set(dropsParked(event));
    // With a list of a member of a barrier ends the visit that it is at, and so on from there.
    if (event.type === "barrier.opened")
      for (const by of dropped)
        for (const [id, asker] of visitedFor) if (asker === by && parked.has(id)) dropped.add(id);
    for (const id of dropped) {
      parked.delete(id);
      climbing.delete(id);
    }
    if (event.type === "attempt.started" && parked.has(event.job))
      return `at ${seq} ${book.name(event.job)} starts though it is parked`;
    const isEnd = event.type === "run.completed" || event.type === "run.failed" || event.type === "run.held";
    for (const id of isEnd ? [...parked, ...climbing] : [])
      return `at ${seq} the run rests though ${book.name(id)} waits for a breaker`;
  }
  return null;
}

function dropsParked(event: Event): readonly number[] {
  switch (event.type) {
    case "job.let_through":
    case "visit.entered":
    case "visit.left":
    case "job.failed":
    case "reset.reserved":
      return [event.job];
    case "jobs.canceled":
    case "jobs.skipped":
      return event.jobs;
    case "jobs.retried":
      return [...event.jobs, ...event.reblocked];
    case "scope.abandoned":
      return event.canceled;
    case "barrier.opened":
      return event.members;
    case "barrier.closed":
      return [...event.invalidated, ...event.retired];
    default:
      return [];
  }
}
