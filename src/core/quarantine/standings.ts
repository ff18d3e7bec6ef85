/**
 * How a worker or a node stands. `suspect`: its last jobs have all failed, so others come first. `out`: it is in
 * quarantine. `due`: that is over, and nobody has granted it a probation yet. `proving`: it may have one attempt.
 * `unknown`: nobody has looked yet; it is known in a moment.
 */
export type Standing = "good" | "suspect" | "out" | "due" | "proving" | "unknown";

/** What is known of the health of workers, by the name that answers for their attempts. */
export interface Standings {
  standingOf(name: string): Standing;
  /** An attempt could be its probation. */
  askProbation(name: string): void;
}

export const ALL_GOOD: Standings = { standingOf: () => "good", askProbation: () => {} };

/** It may be given any attempt. */
export function isTrusted(standing: Standing): boolean {
  return standing === "good" || standing === "suspect";
}
