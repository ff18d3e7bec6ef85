import type { RunDetails } from "./status.js";

/** One rung that brought a step back, with the number that the server gave it. */
export type Recovery = RunDetails["recoveries"][number];

/** "deps retried twice", "build went back to codegen". */
export function recoveryWords({ rung, to, times }: Recovery): string {
  switch (rung) {
    case "restart":
      return "started again after its worker was lost";
    case "rule":
      return "answered by a rule";
    case "retry":
      return times === 1 ? "retried" : times === 2 ? "retried twice" : `retried ${times} times`;
    case "reset":
      return "started again from a clean workspace";
    case "remediate":
      return `repaired by ${to}`;
    case "goto":
      return `went back to ${to}`;
    case "edge":
      return `sent its failure to ${to}`;
    case "requeue":
      return "put back into the queue";
    case "park":
      return "parked until its breaker closes";
    default:
      return `${rung} to ${to}`;
  }
}
