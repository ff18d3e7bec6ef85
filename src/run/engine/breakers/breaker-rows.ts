import { type Breaker, type BreakerPolicy, newBreaker } from "../../../core/breakers/breaker.js";
import type { SharedRow } from "../../../store/shared-rows.js";
import { Board, type BoardStore } from "../board.js";
import type { Clock } from "../clock.js";

export const BREAKERS = "breaker";

/** Opens the breakers of a store. A breaker that nobody has written yet is closed and has the policy that this process knows. */
export function openBreakers(
  store: BoardStore,
  clock: Pick<Clock, "now">,
  policyOf: (key: string) => BreakerPolicy,
): Board<Breaker> {
  return new Board(BREAKERS, store, clock, (row, key) => readBreaker(row, policyOf(key)));
}

/** Reads a breaker. Fields of a newer version are kept. */
export function readBreaker(row: SharedRow | undefined, policy: BreakerPolicy): Breaker {
  return row === undefined ? newBreaker(policy) : { ...newBreaker(policy), ...JSON.parse(row.data) };
}
