import type { RouteRow } from "../core/model/rows.js";
import { goesOn, isRecovering, kindOfRecovery } from "../core/tally/run-tally.js";
import { iso } from "../core/text/iso-time.js";
import { noted, number, type OfFields, text, word } from "../core/text/shape.js";
import type { Store } from "../store/store.js";

/** One rung that brought a step back. Its number is the same wherever it is shown, and stays as the log grows. */
export const RECOVERY = {
  number,
  step: text,
  /** The scope of the first job. The others are in other branches of the same fan-out. */
  scope: text,
  rung: word<RecoveringRung>(),
  to: text,
  jobs: noted(number, "More than one: branches of a fan-out that recovered alike."),
  times: noted(number, "How often the rung acted."),
  first_seq: number,
  last_seq: number,
  first_at: text,
  attempt: noted(number, "The one that failed first."),
  reason: text,
} as const;
export type Recovery = OfFields<typeof RECOVERY>;

type RecoveringRung = Exclude<
  RouteRow["rung"],
  "on_success" | "operator" | "undo" | "stop" | "hold" | "fail"
>;

export type Route = Pick<
  RouteRow,
  "seq" | "at" | "job_id" | "step" | "scope" | "attempt" | "rung" | "to" | "reason"
>;

/** Returns the visit of a job in which an attempt was made. */
type VisitOf = (jobId: number, attempt: number) => number | undefined;

/**
 * Oldest first. Branches of a fan-out in which the same rung acted are one recovery: where it acts in a branch for the
 * second time, it is the second for all of them.
 */
export function recoveriesOf(routes: readonly Route[], visitOf: VisitOf): Recovery[] {
  return countRecoveries(routes, visitOf).map(({ recovery }) => recovery);
}

export interface CountedRecovery {
  readonly recovery: Recovery;
  /** All that it was counted from, oldest first. */
  readonly routes: readonly Route[];
}

export function countRecoveries(routes: readonly Route[], visitOf: VisitOf): CountedRecovery[] {
  const found: { recovery: Recovery; routes: Route[]; jobs: Set<number> }[] = [];
  const byKind = new Map<string, number[]>();
  const lastOf = new Map<number, { readonly place: number; readonly route: Route }>();
  const timesOf = new Map<string, number>();
  for (const route of routes) {
    if (!isRecoveringRung(route.rung)) continue;
    const last = lastOf.get(route.job_id);
    const kind = kindOfRecovery(route);
    const ofJob = `${route.job_id} ${kind}`;
    let place: number | undefined;
    if (last !== undefined && isSameAgain(last.route, route, visitOf)) place = last.place;
    else {
      const time = timesOf.get(ofJob) ?? 0;
      timesOf.set(ofJob, time + 1);
      const places = byKind.get(kind) ?? [];
      byKind.set(kind, places);
      place = places[time];
      if (place === undefined) {
        place = found.length;
        places.push(place);
        found.push({ recovery: begin(route, route.rung, place + 1), routes: [], jobs: new Set() });
      }
    }
    const group = found[place]!;
    group.routes.push(route);
    group.jobs.add(route.job_id);
    group.recovery = {
      ...group.recovery,
      jobs: group.jobs.size,
      times: group.routes.length,
      last_seq: route.seq,
    };
    lastOf.set(route.job_id, { place, route });
  }
  return found.map(({ recovery, routes: counted }) => ({ recovery, routes: counted }));
}

export function isRecoveringRung(rung: RouteRow["rung"]): rung is RecoveringRung {
  return isRecovering(rung);
}

function isSameAgain(last: Route, next: Route, visitOf: VisitOf): boolean {
  if (last.rung !== next.rung || !goesOn(next.rung)) return false;
  return visitOf(last.job_id, last.attempt) === visitOf(next.job_id, next.attempt);
}

function begin(
  { step, scope, to, seq, at, attempt, reason }: Route,
  rung: RecoveringRung,
  number: number,
): Recovery {
  return {
    number,
    step,
    scope,
    rung,
    to,
    jobs: 0,
    times: 0,
    first_seq: seq,
    last_seq: seq,
    first_at: iso(at),
    attempt,
    reason,
  };
}

/** The recoveries of a run that is in a store. */
export async function readRecoveries(store: Store, runId: number): Promise<Recovery[]> {
  const routes = await store.readRoutes(runId);
  return recoveriesOf(routes, await visitsOf(store, runId, routes));
}

/** Visits only tell apart what one job did again: attempts are read where there is any of that. */
async function visitsOf(store: Store, runId: number, routes: readonly Route[]): Promise<VisitOf> {
  const seen = new Set<number>();
  const again = new Set<number>();
  for (const { rung, job_id } of routes)
    if (goesOn(rung)) {
      if (seen.has(job_id)) again.add(job_id);
      seen.add(job_id);
    }
  const visits = new Map<string, number>();
  if (again.size > 0)
    for (const { job_id, attempt, visit } of await store.readAttempts(
      runId,
      again.size === 1 ? [...again][0] : undefined,
    ))
      visits.set(`${job_id} ${attempt}`, visit);
  return (jobId, attempt) => visits.get(`${jobId} ${attempt}`);
}
