import type { RunStatus } from "../core/model/rows.js";

export const UNFINISHED_RUN_STATUSES: readonly RunStatus[] = ["pending", "running", "paused", "held"];

/**
 * Whether a run may be deleted. A store has no clock, so a lease that was not released counts as held, however old it
 * is.
 */
export function mayDeleteRun(run: { readonly status: RunStatus; readonly isLeaseHeld: boolean }): boolean {
  return !UNFINISHED_RUN_STATUSES.includes(run.status) && !run.isLeaseHeld;
}
