import type { EvaluationPurpose, RungName } from "../../model/events.js";
import type { Failure } from "../../model/failure.js";
import type { Job, Run } from "../../model/run.js";
import type { Decision } from "../decision.js";

/** One failure on its way up. */
export interface Climb {
  readonly run: Run;
  readonly job: Job;
  readonly failure: Failure;
  readonly now: number;
  /** For what only the shape of the run can tell, such as whether a target may be entered. Rungs emit only in `act`. */
  readonly decision: Decision;
}

export type RungVerdict =
  /** Does not apply; the reason stands in the log. `mark` puts on record what follows from just that. */
  | { readonly kind: "pass"; readonly reason: string; readonly mark?: () => void }
  /** Applies: `act` emits what follows. */
  | { readonly kind: "act"; readonly reason: string; readonly act: () => void }
  /** It would apply, but max_loops does not allow it: straight to fail, which `act` emits. */
  | { readonly kind: "end"; readonly reason: string; readonly act: () => void }
  /** Cannot tell before this expression has been evaluated; the climb goes on from here then. */
  | { readonly kind: "ask"; readonly purpose: EvaluationPurpose; readonly code?: string };

export interface Rung {
  readonly name: RungName;
  /** It begins another attempt of the job whose failure it answers, and is charged for it. A restart costs nothing. */
  readonly triesAgain: boolean;
  consider(climb: Climb): RungVerdict;
}

/** For the rungs that repeat an attempt, where the step's `if` failed before there was one. */
export const NO_ATTEMPT = "there is no attempt to repeat";

export function pass(reason: string): RungVerdict {
  return { kind: "pass", reason };
}
