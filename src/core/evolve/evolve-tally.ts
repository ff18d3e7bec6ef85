import type { Event } from "../model/events.js";
import type { RouteRow } from "../model/rows.js";
import { jobById, type Run } from "../model/run.js";
import { goesOn, isRecovering, kindOfRecovery, type Recovered } from "../tally/run-tally.js";
import { routeRow } from "./projections.js";

/** How many are named. */
const TOLD = 3;

/** Counts what a rung brought back, as it acts. */
export function noteRecovery(run: Run, event: Event): void {
  const route = routeRow(run, event, 0, 0);
  if (route === null || !isRecovering(route.rung)) return;
  const visit = route.attempt === 0 ? null : jobById(run, route.job_id).attemptVisit;
  countRecovery(run.recoveries, route, visit);
}

export function countRecovery(
  count: Run["recoveries"],
  route: Pick<RouteRow, "job_id" | "step" | "scope" | "rung" | "to">,
  visit: number | null,
): void {
  const { job_id, rung } = route;
  const last = count.byJob.get(job_id);
  if (last !== undefined && last.rung === rung && goesOn(rung) && last.visit === visit)
    return tellAgain(count, last.place);
  const kind = kindOfRecovery(route);
  const time = last?.times[kind] ?? 0;
  const places = count.byKind.get(kind) ?? [];
  const place = places[time] ?? count.total;
  if (place === count.total) {
    count.total += 1;
    count.byKind.set(kind, [...places, place]);
    if (place < TOLD) count.first = [...count.first, recoveredBy(route)];
  } else tellAgain(count, place);
  count.byJob.set(job_id, { rung, visit, place, times: { ...last?.times, [kind]: time + 1 } });
}

function recoveredBy({ step, scope, rung, to }: Omit<Recovered, "times">): Recovered {
  return { step, scope, rung, to, times: 1 };
}

function tellAgain(count: Run["recoveries"], place: number): void {
  count.first = count.first.map((each, index) =>
    index === place ? { ...each, times: each.times + 1 } : each,
  );
}
