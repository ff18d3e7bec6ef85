import type { RunRow } from "../../core/model/rows.js";
import type { TimerPort } from "./attempt-timers.js";

export interface RecordedRuns {
  readRun(runId: number): Promise<RunRow | null>;
}

/** How long workers keep what a run has left: somebody may look at it, or bring the run back. */
export const KEPT_AFTER_END_MS = 10 * 60_000;
/** How long a stored answer counts, because an ended run can be brought back. */
const BELIEVED_MS = 30_000;

/**
 * Knows which runs ended some time ago. Workers ask with every heartbeat, which must not wait for the store, so an
 * unknown run is looked up for the next heartbeat.
 */
export class EndedRuns {
  private readonly known = new Map<number, { readonly isOver: boolean; readonly readAt: number }>();
  private asking = false;

  constructor(
    private readonly recorded: RecordedRuns,
    private readonly clock: TimerPort,
  ) {}

  among(runs: readonly number[]): number[] {
    const oldest = this.clock.elapsed() - BELIEVED_MS;
    for (const [run, { readAt }] of this.known) if (readAt < oldest) this.known.delete(run);
    void this.lookUp(runs.filter((run) => !this.known.has(run)));
    return runs.filter((run) => this.known.get(run)?.isOver === true);
  }

  private async lookUp(runs: readonly number[]): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      for (const run of runs) {
        const finishedAt = (await this.recorded.readRun(run))?.finished_at ?? null;
        const isOver = finishedAt !== null && finishedAt + KEPT_AFTER_END_MS <= this.clock.now();
        this.known.set(run, { isOver, readAt: this.clock.elapsed() });
      }
    } catch {
      // If the store is down, the next heartbeat tries again.
    } finally {
      this.asking = false;
    }
  }
}
