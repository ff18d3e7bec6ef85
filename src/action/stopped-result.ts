import { durationAmount } from "../core/text/amount-text.js";
import type { ActionResult, Attempt, StopCause } from "./action.js";

/** Of an attempt that was ended from outside: what its signal was aborted with decides, not how it took the end. */
export function stoppedResult({
  signal,
  timeoutMs,
  idleTimeoutMs,
}: Pick<Attempt, "signal" | "timeoutMs" | "idleTimeoutMs">): ActionResult & { readonly ok: false } {
  switch (signal.reason as StopCause) {
    case "timeout":
      return {
        ok: false,
        failure: { message: `timed out after ${durationAmount(timeoutMs ?? 0)}`, timeout: "wall" },
      };
    case "idle_timeout":
      return {
        ok: false,
        failure: { message: `printed nothing for ${durationAmount(idleTimeoutMs ?? 0)}`, timeout: "idle" },
      };
    default:
      return { ok: false, stopped: true, failure: { message: "stopped before it had finished" } };
  }
}
