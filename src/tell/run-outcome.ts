import type { RunStatus } from "../core/model/rows.js";

export const OUTCOMES = ["at_once", "rescued", "handled", "held", "failed", "canceled", "active"] as const;
export type RunOutcome = (typeof OUTCOMES)[number];

/** How a run ended, or stands. One that fell and stood up is not the same as one that never fell. */
export function outcomeOf(run: {
  readonly status: RunStatus;
  /** It met a failure. */
  readonly fell: boolean;
  /** A failure of it was handled, or not all was mended in a child run of it. */
  readonly handled: boolean;
  /** A decision about its hold put an end to a job of it. */
  readonly decided: boolean;
}): RunOutcome {
  switch (run.status) {
    case "completed":
      return run.handled || run.decided ? "handled" : run.fell ? "rescued" : "at_once";
    case "held":
    case "failed":
    case "canceled":
      return run.status;
    default:
      return "active";
  }
}
