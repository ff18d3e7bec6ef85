import type { Breaker, BreakerPolicy, BreakerState } from "../../../core/breakers/breaker.js";
import { durationAmount } from "../../../core/text/amount-text.js";

/** Describes a change of a breaker in a sentence. */
export function breakerText(
  key: string,
  { opened, closed }: Breaker,
  { probeEveryMs, maxOpenMs }: BreakerPolicy,
  state: BreakerState,
): string {
  switch (state) {
    case "open":
      return opened?.by == null
        ? `breaker ${key} is open (${opened?.reason ?? ""}): steps that use it wait, one is tried every ${durationAmount(probeEveryMs)}`
        : `breaker ${key} was opened by hand (${opened.reason}): steps that use it wait until somebody closes it`;
    case "spent":
      return `breaker ${key} has been open for ${durationAmount(maxOpenMs)}: it stops nothing any more, and the failures that waited for it climb on`;
    case "closed":
      return `breaker ${key} is closed (${closed?.reason ?? ""}): the steps that waited for it go on`;
  }
}
