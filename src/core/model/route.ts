import type { Job } from "./run.js";

/** What a route that began with a failure comes to, once it has completed. */
export const ROUTE_ENDS = ["skip", "continue", "fail"] as const;
export type RouteEnd = (typeof ROUTE_ENDS)[number];

export interface Route {
  readonly target: Job;
  readonly visit: number;
  /** What the transition says becomes of the failure; null: none does, an operator's new visit stands for that one. */
  readonly then: RouteEnd | null;
}

export interface VisitOutcome {
  readonly completed: boolean;
  readonly handled: boolean;
  readonly route: Route | null;
}
