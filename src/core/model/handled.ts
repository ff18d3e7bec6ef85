import type { Route, RouteEnd, VisitOutcome } from "./route.js";
import type { Handling } from "./rows.js";
import { isOver, isSettled, type Job, type Run } from "./run.js";

/** The path of a failure so far, from edge to edge. */
export interface WayOfFailure {
  /** A visit on it may still come to something. */
  readonly open: boolean;
  /** The job that it has come to. */
  readonly last: Job;
  /** The first job on it that has completed, or whose own failure counts for nothing; null: there is none. */
  readonly end: Job | null;
  /** That job has completed, and has put out something. */
  readonly completed: boolean;
  /** What the transitions on it say together. */
  readonly then: RouteEnd;
}

/** The failure of a repair step counts with that of the step it was to repair. */
export function isHandled(job: Job): boolean {
  if (job.handled !== null) return true;
  if (job.route !== null) return isHandledByRoute(job);
  return job.partOf !== null && (job.partOf.status !== "failed" || isHandled(job.partOf));
}

/** Its program received the failure and went on: the program has handled it. */
export function isCaught(job: Job): boolean {
  return job.call !== null && job.status === "failed" && job.handled === null && isHandled(job);
}

/** The way that a transition took the failure ends in a visit that completed, and no transition on it says that it failed. */
export function isHandledByRoute(job: Job): boolean {
  const way = wayOf(job);
  return way !== null && isEndedWell(job, way);
}

/** Where its dependents are to go on, they must have something to go on with: what completed may have gone back since. */
function isEndedWell({ stoodInBy }: Job, { end, then, completed }: WayOfFailure): boolean {
  if (end === null || then === "fail") return false;
  return then === "skip" || !completed || stoodInBy !== null;
}

/**
 * It has failed, and somebody has to decide about that: nothing handles the failure, nor is anything at work to which a
 * transition has taken it. That of a repair belongs to the step that it was to repair.
 */
export function isUnanswered(run: Run, job: Job): boolean {
  if (job.status !== "failed" || job.partOf !== null || isHandled(job)) return false;
  return isOver(run) || !isOnItsWay(job);
}

/** A step that is held on the way waits itself. */
function isOnItsWay(job: Job): boolean {
  const way = wayOf(job);
  if (way === null) return false;
  if (way.open) return way.last.status !== "held";
  // Whether that step stands in is being looked at, or it has gone back and may complete once more.
  return (
    way.end !== null && job.settledAs !== "lost" && (job.evaluation !== null || !isSettled(way.end.status))
  );
}

/** What handles the failure; null if nothing does. */
export function handlingOf(job: Job): Handling | null {
  if (job.handled !== null) return { how: job.handled, by: null, then: null };
  const way = wayOf(job);
  if (way !== null)
    return isEndedWell(job, way)
      ? { how: "edge", by: way.end!.step.definition.id, then: job.stoodInBy === null ? "skip" : "continue" }
      : null;
  if (!isHandled(job)) return null;
  return { how: isCaught(job) ? "program" : "repair", by: null, then: null };
}

/** Follow a failure until a visit that completed, or one that did not. Null: no transition took it. */
export function wayOf({ route: first }: Job): WayOfFailure | null {
  if (first === null) return null;
  const seen = new Set<string>();
  let last = first.target;
  let then: RouteEnd = "continue";
  for (let route: Route | null = first; route !== null; ) {
    const { target, visit }: Route = route;
    last = target;
    then = strongerOf(then, route.then);
    const key = `${target.id} ${visit}`;
    if (seen.has(key)) return { open: false, last, end: null, completed: false, then };
    seen.add(key);
    const present = isPresent(route);
    const outcome: VisitOutcome | undefined = present ? outcomeOf(target) : target.outcomes.get(visit);
    // The visit has not begun yet.
    if (outcome === undefined) return { open: true, last, end: null, completed: false, then };
    if (outcome.completed || outcome.handled)
      return {
        last,
        open: present && (target.followingUp || target.barrier !== null),
        end: target,
        completed: outcome.completed,
        then,
      };
    if (present && !isSettled(target.status)) return { open: true, last, end: null, completed: false, then };
    route = outcome.route;
  }
  return { open: false, last, end: null, completed: false, then };
}

/** A transition that an operator's new visit stands for says nothing. */
function strongerOf(one: RouteEnd, other: RouteEnd | null): RouteEnd {
  if (one === "fail" || other === "fail") return "fail";
  return one === "skip" || other === "skip" ? "skip" : "continue";
}

/** The target is still what the visit made of it: no other has begun, and the visit was not given up. */
export function isPresent({ target, visit }: Route): boolean {
  return target.visit === visit && !target.outcomes.has(visit);
}

/** How the job's present visit stands. */
export function outcomeOf(job: Job): VisitOutcome {
  return {
    completed: job.status === "completed",
    handled: job.handled !== null,
    route: job.status === "failed" ? job.route : null,
  };
}
