import type { FailureFacts } from "../../core/model/failure.js";
import type { AllocationEnd } from "../allocation-end.js";

/** What is known of an attempt when the allocation under it ends. */
export interface EndedAttempt {
  /** The allocation was made for this job alone, so its limits were the job's own. */
  readonly hadAllocation: boolean;
  /** Nothing else ran in the allocation. */
  readonly wasAlone: boolean;
  readonly elapsedMs: number;
  /** What the job asked for; null: it did not say. */
  readonly runtimeMs: number | null;
}

/** Exit codes as rules see them. */
const OOM_EXIT_CODE = 137;
const WALLTIME_EXIT_CODE = 152;

/**
 * What becomes of an attempt whose allocation has ended: over its own limits it has failed, canceled by others it has
 * failed if the allocation was its own, and everything else is not its fault.
 */
export function verdictOf(end: Pick<AllocationEnd, "code" | "message">, attempt: EndedAttempt): FailureFacts {
  const { code, message } = end;
  const { hadAllocation, wasAlone, elapsedMs, runtimeMs } = attempt;
  // What somebody alone in an allocation has used is his own, whatever he had asked for.
  if (code === "OOM" && (hadAllocation || wasAlone)) return { code: "OOM", exitCode: OOM_EXIT_CODE, message };
  if (code === "WALLTIME" && (hadAllocation || (runtimeMs !== null && elapsedMs >= runtimeMs)))
    return { code: "WALLTIME", exitCode: WALLTIME_EXIT_CODE, message };
  if (code === "CANCELED" && hadAllocation) return { code: "ALLOCATION_CANCELED", message };
  return { lost: true, message };
}
