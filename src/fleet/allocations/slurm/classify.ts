import { type AllocationEnd, allocationEnd, classifyUnknown } from "../allocation-end.js";
import type { AllocationStatus, KnownOfPilot } from "../provider.js";
import { STATES } from "./states.js";

/**
 * The signal that slurmd reports for a script that it could not start, for example because its output file cannot be
 * created.
 */
const LAUNCH_ERROR_SIGNAL = 53;

/** Tolerance for times, which Slurm reports in seconds. */
const CLOCK_STEP_MS = 2_000;

export function classifySlurm(status: AllocationStatus, known: KnownOfPilot): AllocationEnd | null {
  if (status.stuck) return allocationEnd("NEVER_STARTS", status);
  if (status.phase === "unknown") return classifyUnknown(status, known);
  if (status.phase !== "ended") return null;
  const { state } = status.native;
  if (state === "FAILED") return classifyFailed(status, known);
  if (state === "COMPLETED" && !known.registered && !known.cancelAsked)
    return allocationEnd("PILOT_FAILED", status);
  if (state === "TIMEOUT" && endedEarly(status)) return allocationEnd("PREEMPTED", status, false);
  const code = STATES[state]?.code;
  // Only accounting says why an earlier incarnation ended.
  const told = state !== "REQUEUED" || status.source === "accounting";
  return code === undefined ? null : allocationEnd(code, status, told);
}

/**
 * Whether the job ended before its time limit. On a preemption with a grace time Slurm moves the end of the job
 * forward, and reports a timeout even if the script leaves. The same goes for the end of a reservation.
 */
function endedEarly({ startedAt, endedAt, limit }: AllocationStatus): boolean {
  if (startedAt === null || endedAt === null || limit.runtimeMs === null) return false;
  return endedAt - startedAt < limit.runtimeMs - CLOCK_STEP_MS;
}

function classifyFailed(status: AllocationStatus, known: KnownOfPilot): AllocationEnd {
  const { peakMemoryBytes, limit, native } = status;
  if (peakMemoryBytes !== null && limit.memoryBytes !== null && peakMemoryBytes > limit.memoryBytes)
    return allocationEnd("OOM", status);
  // JobLaunchFailure is also reported for a script that was killed while it ran.
  const notStarted = native.reason === "JobLaunchFailure" || native.signal === LAUNCH_ERROR_SIGNAL;
  return allocationEnd(!known.registered && notStarted ? "LAUNCH_FAILED" : "PILOT_FAILED", status);
}
