import type { ReasonKind, RungConsidered } from "../../core/model/events.js";

/** Reasons that only say that a rung is not for this step or this failure. */
const PLAIN: ReadonlySet<ReasonKind | undefined> = new Set([
  "not_configured",
  "does_not_concern",
  "breaker_not_open",
]);

/** Why the rungs that could have acted did not. What holds for several of them is said once. */
export function tellingReasons(considered: readonly RungConsidered[]): string[] {
  const told = considered.filter(({ applied, kind }) => !applied && !PLAIN.has(kind));
  return [...new Set(told.map(({ reason }) => reason))];
}
