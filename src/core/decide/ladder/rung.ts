import { describeNoProgress } from "../../failure/no-progress.js";
import type { EvaluationPurpose, ReasonKind, RungName } from "../../model/events.js";
import type { Failure } from "../../model/failure.js";
import type { Job, Run } from "../../model/run.js";
import type { Decision } from "../decision.js";

/** One failure on its way up. */
export interface Climb {
  readonly run: Run;
  readonly job: Job;
  readonly failure: Failure;
  readonly now: number;
  /**
   * For questions that only the state of the run answers, such as whether a target may be entered. Rungs emit events
   * only in `act`.
   */
  readonly decision: Decision;
}

/** Does not apply; the reason stands in the log. `mark` puts on record what follows from just that. */
export interface Pass {
  readonly kind: "pass";
  readonly why: Exclude<ReasonKind, "applies">;
  readonly reason: string;
  readonly mark?: () => void;
}

export type RungVerdict =
  | Pass
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
  /** What a run can be started with that takes this rung out. The ladder asks, so that no rung has to. */
  readonly turnedOffBy: "nothing" | "only" | "routing";
  /** Why it is not for this step or this failure at all, whatever the run was started with. */
  unconcerned?(climb: Climb): Pass | null;
  /** Asked where it is not turned off. */
  consider(climb: Climb): RungVerdict;
}

export function pass(why: Pass["why"], reason: string): Pass {
  return { kind: "pass", why, reason };
}

/** The answer of rungs that repeat an attempt, if the step's `if` failed before there was one. */
export const NO_ATTEMPT = pass("does_not_concern", "there is no attempt to repeat");
export const USELESS = pass("retry_is_useless", "the step said that retrying cannot help");
const SINGLE_ATTEMPT = pass("single_attempt", "only one attempt of one step was asked for");
const ROUTING_OFF = pass("routing_off", "failure routing is off");
/** The answer of rungs that end a failure in a repair step: the job that requested the repair decides. */
export const OF_REMEDIATION = pass(
  "remediation_step",
  "the failure of a remediation step is left to the step it repairs",
);

/** The loop has been gone round without effect. */
export function inVain({ heal }: Job): Pass {
  return pass("no_progress", describeNoProgress(heal.noProgress!));
}

/** `--only` takes out whatever could lead to a second attempt; without failure routing only a restart is left. */
export function turnedOff({ turnedOffBy }: Rung, { options }: Run): Pass | null {
  if (turnedOffBy === "nothing") return null;
  if (options.only !== null) return SINGLE_ATTEMPT;
  return turnedOffBy === "only" || options.failure_routing ? null : ROUTING_OFF;
}
