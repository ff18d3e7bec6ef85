import type { RungConsidered } from "../core/model/events.js";

/** Reasons that only say that a rung is not for this step or this failure. */
const PLAIN_PASS =
  /^(?:the run goes on|class \S+ is not infrastructure|the step has no failure handler|there is no attempt to repeat|no retry is set|no on_fail\.\w+|no transition on failure|no self_heal|the step does not work in a workspace|the no-progress limit is not reached|the file has no queue|`unhandled` is not hold)$/;

/** Of the rungs that were passed, those that could have acted and why they did not. */
export function tellingReasons(considered: readonly RungConsidered[]): string[] {
  return considered
    .filter(({ applied, reason }) => !applied && !PLAIN_PASS.test(reason))
    .map(({ reason }) => reason);
}
