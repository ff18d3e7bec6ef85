import type { RunStatus } from "../../core/model/rows.js";

/** What the log says of a run, and how it stands beside that. */
export interface StandingRun {
  readonly status: RunStatus;
  readonly interrupted: boolean;
  readonly held_below: readonly unknown[];
}

/** The word for people: `status`, `interrupted` where nobody runs a run that could go on, `held` where child runs hold it up. */
export function statusWord({ status, interrupted, held_below }: StandingRun): RunStatus | "interrupted" {
  if (held_below.length > 0) return "held";
  return interrupted ? "interrupted" : status;
}
