import {
  type AllocationCode,
  type AllocationEnd,
  allocationEnd,
  classifyUnknown,
} from "../allocation-end.js";
import type { AllocationStatus, KnownOfPilot, Phase } from "../provider.js";

/** Meaning of a Slurm state. The exit code is never used: scancel, a time limit and a success can all report 0:0. */
interface StateMeaning {
  readonly phase: Phase;
  /** Why the job ended. Missing for `FAILED`, which says too little, so `classify` looks further. */
  readonly code?: AllocationCode;
  readonly stuck?: true;
}

export const STATES: { readonly [state: string]: StateMeaning } = {
  PENDING: { phase: "pending" },
  REQUEUE_FED: { phase: "pending" },
  REQUEUE_HOLD: { phase: "pending", stuck: true },
  SPECIAL_EXIT: { phase: "pending", stuck: true },
  RESV_DEL_HOLD: { phase: "pending", stuck: true },

  CONFIGURING: { phase: "starting" },
  POWER_UP_NODE: { phase: "starting" },

  RUNNING: { phase: "running" },
  RESIZING: { phase: "running" },
  SUSPENDED: { phase: "running" },
  STOPPED: { phase: "running" },

  SIGNALING: { phase: "ending" },
  COMPLETING: { phase: "ending" },
  STAGE_OUT: { phase: "ending" },

  COMPLETED: { phase: "ended", code: "DRAINED" },
  FAILED: { phase: "ended", code: "PILOT_FAILED" },
  LAUNCH_FAILED: { phase: "ended", code: "LAUNCH_FAILED" },
  TIMEOUT: { phase: "ended", code: "WALLTIME" },
  OUT_OF_MEMORY: { phase: "ended", code: "OOM" },
  NODE_FAIL: { phase: "ended", code: "NODE_LOST" },
  BOOT_FAIL: { phase: "ended", code: "NODE_LOST" },
  PREEMPTED: { phase: "ended", code: "PREEMPTED" },
  REQUEUED: { phase: "ended", code: "REQUEUED" },
  CANCELLED: { phase: "ended", code: "CANCELED" },
  DEADLINE: { phase: "ended", code: "NEVER_STARTS" },
  REVOKED: { phase: "ended", code: "CANCELED" },
};

/** Reasons for which a pending job never starts by itself. Slurm accepts such jobs unless the site refuses them. */
export const STUCK_REASONS: ReadonlySet<string> = new Set([
  "AccountNotAllowed",
  "BadConstraints",
  "DependencyNeverSatisfied",
  "InvalidAccount",
  "InvalidQOS",
  "JobHeldAdmin",
  "JobHeldUser",
  "NodeDown",
  "PartitionNodeLimit",
  "PartitionTimeLimit",
  "QOSNotAllowed",
  "launch_failed_requeued_held",
  "job_requeued_in_held_state",
]);

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
