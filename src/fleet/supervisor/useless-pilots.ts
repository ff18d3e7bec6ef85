import type { AllocationRow, ClusterRow } from "../../store/cluster-rows.js";
import { laneAmong } from "../allocations/requests/lane.js";
import { MAX_FAILURES } from "../allocations/scale/backoff.js";
import type { Demand } from "../allocations/scale/demand.js";
import type { KeeperPorts } from "./keeper-ports.js";

const WHY = `${MAX_FAILURES} allocations in a row ended with nothing to do although jobs were waiting; their workers lack something that the jobs need, such as a secret or a program`;

/**
 * Finds out that workers come and can do nothing for the jobs that they were started for. Each would leave after its idle
 * time and be followed by another, for ever.
 */
export class UselessPilots {
  /** Keys of allocations that ended like that since an attempt last began on the cluster. */
  private readonly keys = new Set<string>();
  private readonly beganAt: number;
  private starts = 0;

  constructor(private readonly ports: KeeperPorts) {
    this.beganAt = ports.clock.now();
  }

  /**
   * Returns the cluster, suspended if another allocation would be just as useless. May be called twice with the same
   * rows.
   */
  judge(cluster: ClusterRow, rows: readonly AllocationRow[], demands: readonly Demand[]): ClusterRow {
    const starts = this.ports.starts();
    if (starts !== this.starts || cluster.suspended !== null) this.keys.clear();
    this.starts = starts;
    if (cluster.suspended !== null || demands.length === 0) return cluster;
    for (const row of rows) if (isWaitedFor(row, demands) && this.wasUseless(row)) this.keys.add(row.key);
    if (this.keys.size < MAX_FAILURES) return cluster;
    return { ...cluster, suspended: { kind: "no_work", message: WHY, at: this.ports.clock.now() } };
  }

  /** Whether its worker did nothing. Unknown for a worker that connected to an earlier process. */
  private wasUseless({ state, outcome, cancel, pilot_at }: AllocationRow): boolean {
    const leftByItself = state === "ended" && outcome?.code === "DRAINED" && cancel === null;
    return leftByItself && pilot_at !== null && pilot_at >= this.beganAt;
  }
}

/** A job waits that this allocation could have taken: its own job, or one of its lane that needs no allocation of its own. */
function isWaitedFor({ job_id, tags, cluster }: AllocationRow, demands: readonly Demand[]): boolean {
  if (job_id !== null) return demands.some(({ jobId }) => jobId === job_id);
  const rowLane = laneAmong(tags, cluster);
  return demands.some(({ needs, lane }) => needs.nodes === 1 && (lane?.tag ?? null) === rowLane);
}
