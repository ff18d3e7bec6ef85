import type { RunRow } from "../core/model/rows.js";
import type { TimerPort } from "./attempt-timers.js";

export interface RecordedRuns {
  readRun(runId: number): Promise<RunRow | null>;
}

/** What a run has left on workers is kept for so long: somebody may look at it, or bring the run back. */
export const KEPT_AFTER_END_MS = 10 * 60_000;
/** An ended run can be brought back: what was read is believed no longer than this. */
const BELIEVED_MS = 30_000;

/**
 * Which runs ended some time ago. Workers ask with every heartbeat, and a heartbeat must not wait for the store: what
 * is not known is looked up, and the next one is told.
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
      // A store that is away is asked again with the next heartbeat.
    } finally {
      this.asking = false;
    }
  }
}
