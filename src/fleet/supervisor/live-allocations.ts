import type { ClusterSettings } from "../../file/settings/settings.js";
import type { AllocationRow, ClusterRow } from "../../store/cluster-rows.js";
import { laneAmong } from "../allocations/requests/lane.js";
import type { ClusterHistory, LiveAllocation } from "../allocations/scale/plan-allocations.js";
import type { Pilots } from "./keeper-ports.js";

/**
 * How long other jobs wait to learn why an allocation ends. A node that does not answer may keep it ending for minutes.
 */
export const EXPLAINED_MS = 20_000;

export function historyOf({ suspended, failures, retry_at, submitted_at }: ClusterRow): ClusterHistory {
  return { suspended, failures, retryAt: retry_at, submittedAt: submitted_at };
}

/** An allocation as planning sees it. */
export function liveOf(
  row: AllocationRow,
  around: {
    readonly isMine: boolean;
    readonly settings: ClusterSettings;
    readonly pilots: Pilots;
    /** This server has just begun: workers that had come to it before are on their way back. */
    readonly expectsPilots: boolean;
    /** How long it has been leaving. */
    readonly endingForMs: number;
    readonly now: number;
  },
): LiveAllocation {
  const { shape, job_id: jobId, pilot_at, state, cancel } = row;
  const { isMine, endingForMs } = around;
  return {
    shape,
    jobId,
    hasPilot: pilot_at !== null,
    usableMs: usableMs(row, around),
    lane: laneAmong(row.tags, row.cluster),
    endsUnexplained: isMine && state === "ending" && cancel === null && endingForMs < EXPLAINED_MS,
  };
}

/** Workers of another server take none of our jobs, nor does one that is to end or has gone. */
function usableMs(
  row: AllocationRow,
  { isMine, settings, pilots, expectsPilots, now }: Parameters<typeof liveOf>[1],
): number {
  if (!isMine || row.cancel !== null || row.state === "ending") return 0;
  const isAway = row.pilot_at !== null && !pilots.isHere(`${row.cluster}/${row.id}`, row.token_id);
  if (isAway && !expectsPilots) return 0;
  const whole = row.shape.runtimeMs - settings.allocation.drainMs;
  return row.started_at === null ? whole : Math.max(0, row.started_at + whole - now);
}
