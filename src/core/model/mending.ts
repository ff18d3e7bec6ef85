import { sentBackTo } from "./barrier.js";
import { isPresent } from "./handled.js";

import type { Route } from "./route.js";
import type { Job } from "./run.js";

/**
 * The job that is working on a failure now: the failed job itself, the repair step that it waits for, or the step to
 * which an edge has taken the failure, and so on from there. It is at most one job, and the earlier ones wait for it.
 * Null if none is, or if it waits for a step that works for another failure. The failure then keeps nobody from the
 * tree: a job that waits for others must never hold what those wait for.
 */
export function whoMends(job: Job): Job | null {
  return follow(job, new Set());
}

/** `seen`: failures that edges took to and fro. */
function follow(job: Job, seen: Set<string>): Job | null {
  if (job.barrier !== null) return sentBackTo(job.barrier);
  if (job.list?.role === "remediation") return followList(job, seen);
  switch (job.status) {
    case "ready":
    case "running":
    case "recovering":
      return job;
    case "waiting":
      return job.queue.waiting || job.parked !== null ? null : job;
    case "blocked":
      // Its `if` is being decided.
      return job.evaluation === null ? null : job;
    case "failed":
      return job.route === null ? null : followRoute(job.route, seen);
    default:
      return null;
  }
}

function followList(job: Job, seen: Set<string>): Job | null {
  const target = job.list?.jobs[job.list.next];
  if (target?.visitFor?.by !== job) return null;
  if (target.status !== "completed") return follow(target, seen);
  // A repair step is done only when what follows its success is.
  if (target.list !== null) return followList(target, seen);
  return target.followingUp ? target : null;
}

function followRoute(way: Route, seen: Set<string>): Job | null {
  const { target, visit } = way;
  const key = `${target.id} ${visit}`;
  if (seen.has(key)) return null;
  seen.add(key);
  if (target.barrier !== null) return sentBackTo(target.barrier);
  if (isPresent(way)) return follow(target, seen);
  const route = target.outcomes.get(visit)?.route ?? null;
  return route === null ? null : followRoute(route, seen);
}
