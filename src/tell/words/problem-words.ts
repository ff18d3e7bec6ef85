import { brokeOf } from "../../core/model/excerpt.js";
import type { ErrorRecord } from "../../core/model/failure.js";
import { type Considered, isSpent } from "./rung-marks.js";
import { capitalised } from "./sentence.js";

/** Says what broke as a title. A message of the engine begins with a capital letter then. */
export function titleOf(error: ErrorRecord): string {
  const broke = brokeOf(error);
  return broke === error.message ? capitalised(broke) : broke;
}

/** "2 attempts, no retries left (1 used)": what the last climb found used up, or else why it did not retry. */
export function triedText(attempts: number, lastClimb: readonly Considered[]): string {
  const count = attempts === 0 ? "no attempt" : `${attempts} attempt${attempts === 1 ? "" : "s"}`;
  const spent = lastClimb.filter(isSpent);
  const declined = lastClimb.filter(
    ({ rung, applied, kind }) => rung === "retry" && !applied && kind !== "not_configured",
  );
  return [count, ...(spent.length > 0 ? spent : declined).map(({ reason }) => reason)].join(", ");
}
