import { recoveryWords as wordsOf } from "../../../src/tell/words/remedy-words.js";
import type { RunDetails } from "./status.js";

/** A rung that brought a step back, with the number that the server assigned. */
export type Recovery = RunDetails["recoveries"][number];

/**
 * A text such as "retried twice" or "went back to codegen", or for a fan-out with 40 items "5 of 40 items retried
 * once".
 */
export function recoveryWords(
  { rung, to, times, jobs }: Pick<Recovery, "rung" | "to" | "times" | "jobs">,
  items = 0,
): string {
  const many = jobs > 1 ? `${jobs}${items > jobs ? ` of ${items}` : ""} items ` : "";
  const words = wordsOf({ rung, to, times: jobs > 1 ? 1 : times });
  return many + (jobs > 1 ? words.replace(/\bits\b/g, "their") : words);
}

/** A text such as ", then completed"; empty while it is open. */
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
