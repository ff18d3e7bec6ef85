import type { FailureFacts } from "../core/failure.js";
import type { StopCause } from "./action.js";

/** The facts of an attempt that was ended from outside, by the reason its signal was aborted with. */
export function stoppedFacts(
  signal: AbortSignal,
  timeoutMs: number | null,
  idleTimeoutMs: number | null,
): FailureFacts {
  const cause = signal.reason as StopCause;
  if (cause === "timeout") return { message: `timed out after ${timeoutMs ?? 0} ms`, timeout: "wall" };
  if (cause === "idle_timeout")
    return { message: `gave no sign of life for ${idleTimeoutMs ?? 0} ms`, timeout: "idle" };
  return { message: "stopped" };
}
