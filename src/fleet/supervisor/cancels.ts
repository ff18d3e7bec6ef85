import { messageOf } from "../../core/text/message-of.js";
import type { AllocationRow } from "../../store/cluster-rows.js";
import { laneAmong } from "../allocations/requests/lane.js";
import type { Demand } from "../allocations/scale/demand.js";
import { RETURN_MS, type SupervisorPorts } from "./supervisor-ports.js";

/** How long until an allocation that was told to end now, but still exists, is told again. */
const ASK_AGAIN_MS = 60_000;
/** Jobs must be gone for so long before what waits in the queue for them is canceled. */
const SURPLUS_MS = 60_000;

/** Ends of allocations that somebody wants. */
export class Cancels {
  /** By key: what was requested, and when. A second request to drain would make a worker hand its jobs back. */
  private readonly asked = new Map<string, { readonly how: "drain" | "now"; readonly at: number }>();
  /** By lane (null for jobs without one): the time since which no job has waited. */
  private readonly idleSince = new Map<string | null, number>();
  private readonly beganAt: number;

  constructor(private readonly ports: SupervisorPorts) {
    this.beganAt = ports.clock.elapsed();
  }

  /** What waits in the queue for jobs that are no longer there is to leave it. */
  withSurplus(
    rows: readonly AllocationRow[],
    mine: (row: AllocationRow) => boolean,
    demands: readonly Demand[],
  ): AllocationRow[] {
    const elapsed = this.ports.clock.elapsed();
    const laneOf = ({ tags, cluster }: AllocationRow) => laneAmong(tags, cluster);
    for (const { lane } of demands) this.idleSince.delete(lane?.tag ?? null);
    const wanted = new Set(demands.map(({ lane }) => lane?.tag ?? null));
    for (const lane of rows.map(laneOf))
      if (!wanted.has(lane) && !this.idleSince.has(lane)) this.idleSince.set(lane, elapsed);
    const isIdle = (lane: string | null) => elapsed - (this.idleSince.get(lane) ?? elapsed) >= SURPLUS_MS;
    const waiting = new Set(demands.map(({ jobId }) => jobId));
    return rows.map((row) => {
      if (!mine(row) || row.state !== "pending" || row.cancel !== null) return row;
      const isSurplus = row.job_id === null ? isIdle(laneOf(row)) : !waiting.has(row.job_id);
      return isSurplus ? { ...row, cancel: "drain" as const } : row;
    });
  }

  /**
   * It may have been asked before this server was started again: its worker says so when it is back, and until then it is
   * not asked a second time, which would mean to hand back.
   */
  private mayDrain({ cluster, id, token_id, pilot_at }: AllocationRow): boolean {
    const { pilots, clock } = this.ports;
    const allocation = `${cluster}/${id}`;
    if (pilots.isDraining(allocation, token_id)) return true;
    const isAway = pilot_at !== null && !pilots.isHere(allocation, token_id);
    return isAway && clock.elapsed() - this.beganAt < RETURN_MS;
  }

  async ask(rows: readonly AllocationRow[], signal: AbortSignal): Promise<void> {
    const { provider, clock, settings, tell } = this.ports;
    for (const row of rows) {
      const { key, id, cancel, state } = row;
      if (state === "ended") this.asked.delete(key);
      if (state === "ended" || cancel === null || id === null) continue;
      const before = this.asked.get(key);
      const isRepeated = before?.how === cancel;
      if (before === undefined && cancel === "drain" && this.mayDrain(row)) continue;
      if (isRepeated && (cancel === "drain" || clock.elapsed() - before!.at < ASK_AGAIN_MS)) continue;
      try {
        await provider.cancel(id, cancel, signal);
        this.asked.set(key, { how: cancel, at: clock.elapsed() });
      } catch (error) {
        tell(`cluster ${settings.name}: allocation ${id} cannot be canceled now: ${messageOf(error)}`);
      }
    }
  }
}
