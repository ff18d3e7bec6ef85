import type { FailureClass } from "../../core/model/failure.js";
import type { AllocationStatus, KnownOfPilot } from "./provider.js";

interface EndTraits {
  /**
   * Failure class of an attempt that ended with its pilot although it stayed within its own limits. Null if no attempt
   * was lost.
   */
  readonly class: FailureClass | null;
  /** Failure class of a job that had the allocation to itself, so that the allocation's limits were its own. */
  readonly wideClass: FailureClass | null;
  readonly nodeSuspect: boolean;
  readonly words: string;
}

/** Every way in which an allocation can end, and what follows from it, in any batch system. */
const ENDS = {
  DRAINED: { class: null, wideClass: null, nodeSuspect: false, words: "it ended as it should" },
  WALLTIME: {
    class: "infrastructure",
    wideClass: "resource",
    nodeSuspect: false,
    words: "it reached its time limit",
  },
  OOM: {
    class: "infrastructure",
    wideClass: "resource",
    nodeSuspect: false,
    words: "something in it used more memory than it has",
  },
  NODE_LOST: {
    class: "infrastructure",
    wideClass: "infrastructure",
    nodeSuspect: true,
    words: "its node failed, was taken down or did not boot",
  },
  PREEMPTED: {
    class: "infrastructure",
    wideClass: "infrastructure",
    nodeSuspect: false,
    words: "a more important job took its place",
  },
  REQUEUED: {
    class: "infrastructure",
    wideClass: "infrastructure",
    nodeSuspect: false,
    words: "it was put back into the queue",
  },
  CANCELED: {
    class: "infrastructure",
    wideClass: "deterministic_policy",
    nodeSuspect: false,
    words: "it was canceled",
  },
  LAUNCH_FAILED: {
    class: "infrastructure",
    wideClass: "infrastructure",
    nodeSuspect: true,
    words: "its script could not be started",
  },
  PILOT_FAILED: {
    class: "infrastructure",
    wideClass: "infrastructure",
    nodeSuspect: false,
    words: "its script or the worker in it failed",
  },
  NEVER_STARTS: {
    class: "infrastructure",
    wideClass: "infrastructure",
    nodeSuspect: false,
    words: "it waits in the queue and cannot start",
  },
  VANISHED: {
    class: "infrastructure",
    wideClass: "infrastructure",
    nodeSuspect: false,
    words: "neither the queue nor the accounting knows it any more",
  },
} as const satisfies Record<string, EndTraits>;

export type AllocationCode = keyof typeof ENDS;

export interface AllocationEnd {
  readonly code: AllocationCode;
  readonly class: FailureClass | null;
  readonly wideClass: FailureClass | null;
  /** The node may be bad, so the next allocation should go elsewhere. */
  readonly nodeSuspect: boolean;
  /** False if the batch system reports two different ends in the same way, and this is the more likely one. */
  readonly certain: boolean;
  readonly message: string;
}

/**
 * An id is gone when neither the queue nor the accounting has known it for this long. Accounting may be minutes late.
 */
const VANISHED_AFTER_MS = 5 * 60_000;
/** A canceled allocation needs less proof: Grid Engine keeps no record of a job that is deleted while it waits. */
const CANCELED_AFTER_MS = 30_000;

export function allocationEnd(code: AllocationCode, status: AllocationStatus, certain = true): AllocationEnd {
  const { words, ...traits } = ENDS[code];
  return { code, ...traits, certain, message: `allocation ${status.id}: ${words}${nativeWords(status)}` };
}

function nativeWords({ native }: AllocationStatus): string {
  const { state, reason, exitCode, signal } = native;
  const exit =
    signal !== null && signal > 0 ? `signal ${signal}` : exitCode === null ? null : `exit code ${exitCode}`;
  const said = [state, reason, exit].filter((part) => part !== null && part !== "");
  return said.length === 0 ? "" : ` (${said.join(", ")})`;
}

/** Classifies an allocation that the batch system does not know. Null while a command that might know it fails. */
export function classifyUnknown(status: AllocationStatus, known: KnownOfPilot): AllocationEnd | null {
  if (status.source !== "none") return null;
  if (known.cancelAsked && known.unknownForMs >= CANCELED_AFTER_MS) return allocationEnd("CANCELED", status);
  return known.unknownForMs >= VANISHED_AFTER_MS ? allocationEnd("VANISHED", status, false) : null;
}
