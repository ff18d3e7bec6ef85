import { HEALTHY, type WorkerHealth } from "../../../core/quarantine/quarantine.js";
import type { SharedRow } from "../../../store/shared-rows.js";
import { Board, type BoardStore } from "../board.js";
import type { Clock } from "../clock.js";

export const WORKERS = "worker";

/** Workers and nodes that were in quarantine, by the name under which their health is counted. */
export function openHealthRows(store: BoardStore, clock: Pick<Clock, "now">): Board<WorkerHealth> {
  return new Board(WORKERS, store, clock, readHealth);
}

/** Reads a health row. Fields of a newer version are kept. */
export function readHealth(row: SharedRow | undefined): WorkerHealth {
  return row === undefined ? HEALTHY : { ...HEALTHY, ...JSON.parse(row.data) };
}
