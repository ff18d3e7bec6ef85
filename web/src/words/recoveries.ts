import type { RunDetails } from "./status.js";

/** One rung that brought a step back, with the number that the server gave it. */
export type Recovery = RunDetails["recoveries"][number];

/** "deps retried twice", "build went back to codegen", "5 jobs retried". */
export function recoveryWords({
  rung,
  to,
  times,
  jobs,
}: Pick<Recovery, "rung" | "to" | "times" | "jobs">): string {
  const many = jobs > 1 ? `in ${jobs} jobs: ` : "";
  return many + wordsOf(rung, to, jobs > 1 ? 1 : times);
}

function wordsOf(rung: string, to: string, times: number): string {
  switch (rung) {
    case "restart":
      return "started again after its worker was lost";
    case "rule":
      return "handled by a rule";
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

/** ", then completed"; nothing while it is open. */
export function endWords({ outcome }: { readonly outcome: string | null }): string {
  switch (outcome) {
    case "completed":
      return ", then completed";
    case "failed":
      return ", then failed again";
    case "handled":
      return ", handled";
    case "unhandled":
      return ", not handled";
    case "mixed":
      return ", not all completed";
    default:
      return "";
  }
}
