import type { Run } from "../../core/model/run.js";

/** A run that this engine has taken. `ended` settles when it is over, or rests. */
export interface OwnedRun {
  readonly runId: number;
  readonly run: Run;
  readonly ended: Promise<Run>;
}

/** Called when a run is lost to this engine, after its local work has ended. */
export type LossListener = (run: Run, error: unknown) => void;

/** Who lifts a pause by taking a run, and why. */
export interface Resumed {
  readonly reason?: string;
  readonly key?: string | null;
  readonly by?: string;
}
