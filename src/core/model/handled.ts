import type { Job, Route, VisitOutcome } from "./run.js";

/** The failure of a repair step counts with that of the step it was to repair. */
export function isHandled(job: Job): boolean {
  if (job.handled !== null) return true;
  if (job.route !== null) return isHandledByRoute(job);
  return job.partOf !== null && (job.partOf.status !== "failed" || isHandled(job.partOf));
}

/** The way that a transition took the failure ends in a visit that completed. */
export function isHandledByRoute(job: Job): boolean {
  return job.route !== null && leadsToSuccess(job.route, new Set());
}

/** Follow a failure from edge to edge until a visit that completed, or one that did not. */
function leadsToSuccess(route: Route, seen: Set<string>): boolean {
  const { target, visit } = route;
  const key = `${target.id} ${visit}`;
  if (seen.has(key)) return false;
  seen.add(key);
  const outcome = isPresent(route) ? outcomeOf(target) : target.outcomes.get(visit);
  if (outcome === undefined) return false;
  if (outcome.completed || outcome.handled) return true;
  return outcome.route !== null && leadsToSuccess(outcome.route, seen);
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
