import type { AllocationCode } from "../allocation-end.js";
import type { Phase } from "../provider.js";

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
