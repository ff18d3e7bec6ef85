import type { ReasonKind, RungConsidered } from "../../core/model/events.js";

/** Reasons that only say that a rung is not for this step or this failure. */
const PLAIN: ReadonlySet<ReasonKind | undefined> = new Set(["not_configured", "does_not_concern"]);

/** Of the rungs that were passed, those that could have acted and why they did not. */
export function tellingReasons(considered: readonly RungConsidered[]): string[] {
  return considered.filter(({ applied, kind }) => !applied && !PLAIN.has(kind)).map(({ reason }) => reason);
}
