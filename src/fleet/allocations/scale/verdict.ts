import type { FailureFacts } from "../../../core/model/failure.js";
import type { AllocationEnd } from "../allocation-end.js";

/** What is known of an attempt when the allocation under it ends. */
export interface EndedAttempt {
  /** The allocation was made for this job alone, so its limits were the job's own. */
  readonly hadAllocation: boolean;
  /** No other job ran in the allocation. */
  readonly wasAlone: boolean;
  readonly elapsedMs: number;
  /** The `runtime` that the job asked for; null if it did not specify one. */
  readonly runtimeMs: number | null;
}

/** Exit codes under which rules know these ends. */
const OOM_EXIT_CODE = 137;
const WALLTIME_EXIT_CODE = 152;

/**
 * Judges an attempt whose allocation has ended. It failed if it exceeded its own limits, or if others canceled an
 * allocation of its own. All other ends are not its fault.
 */
export function verdictOf(end: Pick<AllocationEnd, "code" | "message">, attempt: EndedAttempt): FailureFacts {
  const { code, message } = end;
  const { hadAllocation, wasAlone, elapsedMs, runtimeMs } = attempt;
  // A job that was alone in the allocation used all of this memory itself, whatever it had requested.
  if (code === "OOM" && (hadAllocation || wasAlone)) return { code: "OOM", exitCode: OOM_EXIT_CODE, message };
  if (code === "WALLTIME" && (hadAllocation || (runtimeMs !== null && elapsedMs >= runtimeMs)))
    return { code: "WALLTIME", exitCode: WALLTIME_EXIT_CODE, message };
  if (code === "CANCELED" && hadAllocation) return { code: "ALLOCATION_CANCELED", message };
  return { lost: true, message };
}
