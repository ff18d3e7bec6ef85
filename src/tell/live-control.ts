import { isOver, type Run } from "../core/model/run.js";
import type { LiveControl } from "../fleet/desk/protocol.js";
import { jobName } from "./lookup/job-name.js";
import { iso } from "./run-report.js";

/** What people want of the run: whether it may go on, and what they last asked to be done about a step. */
export function liveControlOf({ paused, stepRequest: asked }: Run): LiveControl {
  return {
    paused: paused !== null,
    takeover: paused?.takeover ?? false,
    recovery:
      asked === null
        ? null
        : { action: asked.action, step_id: jobName(asked.job), updated_at: iso(asked.at) },
  };
}

/** The document for a run that nobody has touched. */
export const NOBODY_STEERS: LiveControl = { paused: false, takeover: false, recovery: null };

/** The documents for all runs of an engine, as of their last commit. */
export class LiveControls {
  private readonly known = new Map<number, LiveControl>();

  /** Call this with every commit. */
  readonly note = (run: Run): void => {
    if (isOver(run)) this.known.delete(run.id);
    else this.known.set(run.id, liveControlOf(run));
  };

  of(runId: number): LiveControl | null {
    return this.known.get(runId) ?? null;
  }
}
