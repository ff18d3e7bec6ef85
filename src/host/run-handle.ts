import type { RunReport } from "../tell/run-report.js";

/** A run that goes on in this program. */
export interface BegunRun {
  readonly runId: number;
  /** Resolves when the run is over or rests; rejects if this program loses it. */
  readonly ended: Promise<void>;
}

/** A run that this program started or resumed. */
export interface RunHandle {
  readonly runId: number;
  /** Resolves when the run is over; rejects if this program loses it. */
  readonly result: Promise<RunReport>;
}
