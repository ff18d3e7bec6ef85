import type { Outcome } from "../../core/model/outcome.js";
import { durationAmount } from "../../core/text/amount-text.js";
import type { Json } from "../../core/text/json.js";
import type { Attempt, StopCause } from "./action.js";

/** The result of an attempt that was ended from outside. The reason of its aborted signal decides, not how it ended. */
export function stoppedResult({
  signal,
  timeoutMs,
  idleTimeoutMs,
}: Pick<Attempt, "signal" | "timeoutMs" | "idleTimeoutMs">): Exclude<Outcome<Json>, { kind: "succeeded" }> {
  switch (signal.reason as StopCause) {
    case "timeout":
      return {
        kind: "failed",
        facts: { message: `timed out after ${durationAmount(timeoutMs ?? 0)}`, timeout: "wall" },
      };
    case "idle_timeout":
      return {
        kind: "failed",
        facts: { message: `printed nothing for ${durationAmount(idleTimeoutMs ?? 0)}`, timeout: "idle" },
      };
    default:
      return { kind: "stopped" };
  }
}
