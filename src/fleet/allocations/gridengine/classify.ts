import { type AllocationEnd, allocationEnd, classifyUnknown } from "../allocation-end.js";
import type { AllocationStatus, KnownOfPilot } from "../provider.js";
import { EXIT_TOLD_TO_LEAVE, meaningOfFailed } from "./states.js";

export function classifyGridEngine(status: AllocationStatus, known: KnownOfPilot): AllocationEnd | null {
  if (status.phase === "unknown") return classifyUnknown(status, known);
  const failed = /^failed (\d+)$/.exec(status.native.state)?.[1];
  if (status.stuck && failed === undefined) return allocationEnd("NEVER_STARTS", status);
  if (failed === undefined || (status.phase !== "ended" && !status.stuck)) return null;
  const meaning = meaningOfFailed(Number(failed));
  switch (meaning) {
    case "by_exit":
      return classifyByExit(status, known);
    case "by_limit":
      return classifyByLimit(status);
    case "killed":
      return known.cancelAsked
        ? allocationEnd("CANCELED", status)
        : allocationEnd("PILOT_FAILED", status, false);
    case "REQUEUED":
      // Not certain without times: both a lost host and a job that an operator reschedules have none.
      return allocationEnd("REQUEUED", status, status.endedAt !== null);
    default:
      return allocationEnd(meaning, status);
  }
}

/** Grid Engine does not count `qdel` as a failure, so only the script's exit code can say that it was told to leave. */
function classifyByExit(status: AllocationStatus, known: KnownOfPilot): AllocationEnd {
  const { exitCode } = status.native;
  if (exitCode === EXIT_TOLD_TO_LEAVE) return allocationEnd("CANCELED", status);
  const asItShould = exitCode === 0 && (known.registered || known.cancelAsked);
  return allocationEnd(asItShould ? "DRAINED" : "PILOT_FAILED", status);
}

/** Grid Engine has one number for the limits of time and of memory. */
function classifyByLimit(status: AllocationStatus): AllocationEnd {
  const { limit, peakMemoryBytes, startedAt, endedAt } = status;
  const ranMs = startedAt === null || endedAt === null ? null : endedAt - startedAt;
  if (limit.runtimeMs !== null && ranMs !== null && ranMs >= limit.runtimeMs)
    return allocationEnd("WALLTIME", status);
  if (limit.memoryBytes !== null && peakMemoryBytes !== null && peakMemoryBytes > limit.memoryBytes)
    return allocationEnd("OOM", status);
  return allocationEnd("WALLTIME", status, false);
}
