import type { Run } from "../core/model/run.js";

/** A run that this engine has taken. `ended` settles when it is over, or rests. */
export interface OwnedRun {
  readonly runId: number;
  readonly run: Run;
  readonly ended: Promise<Run>;
}

/** Called when a run is lost to this engine, once what it had under way here is over. */
export type LossListener = (run: Run, error: unknown) => void;
