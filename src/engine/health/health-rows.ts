import { HEALTHY, type WorkerHealth } from "../../core/workers/quarantine.js";
import type { SharedRow } from "../../store/shared-rows.js";
import type { Clock } from "../clock.js";
import { type ChangedShared, SharedRows } from "../shared-rows.js";

export const WORKERS = "worker";

/** Workers and nodes that were in quarantine, by the name under which their health is counted. */
export function openHealthRows(store: ChangedShared, clock: Pick<Clock, "now">): SharedRows<WorkerHealth> {
  return new SharedRows(WORKERS, store, clock, readHealth);
}

/** Reads a health row. Fields of a newer version are kept. */
export function readHealth(row: SharedRow | undefined): WorkerHealth {
  return row === undefined ? HEALTHY : { ...HEALTHY, ...JSON.parse(row.data) };
}
