import { DarumaError } from "../core/errors/errors.js";
import type { Principal } from "../operations/context.js";
import { DEFAULT_RUNS_PER_MINUTE } from "./limits.js";
import { RateWindow } from "./rate-window.js";

/** Throws TOO_MANY_RUNS for a caller that has made too many runs in a minute. Tokens of one name count together. */
export function runAdmission(
  runsPerMinute: number = DEFAULT_RUNS_PER_MINUTE,
  now: () => number = () => performance.now(),
): (principal: Principal) => void {
  if (runsPerMinute === 0) return () => {};
  const window = new RateWindow(runsPerMinute, now);
  return ({ name, role }) => {
    const seconds = window.count(`${role} ${name}`);
    if (seconds > 0)
      throw new DarumaError("TOO_MANY_RUNS", `${name} may start ${runsPerMinute} runs a minute`, {
        details: { retry_after_seconds: seconds },
      });
  };
}
