import type { NoProgress } from "./events.js";

/** A failure as the no-progress rule knows it again. */
export interface FailureMark {
  readonly signature: string;
  readonly diffHash: string | null;
}

/** What in-step healing has come to since the visit, or the present round of the queue, began. */
export interface HealState {
  /** Hard resets; each takes one of the step's attempts. */
  resets: number;
  /** Failures in a row, the last included, that say and leave the same. */
  streak: number;
  /** The last failures that count, oldest first. */
  recent: readonly FailureMark[];
  /** The last failure has reached the limit. */
  noProgress: NoProgress | null;
}

/** Where a job stands in the queue. */
export interface QueueState {
  /** How often it was put back, since the run began or the last operator's retry. */
  requeues: number;
  /** It waits for its turn. */
  waiting: boolean;
  /** Its last failure has found the queue's attempts used up. */
  dead: boolean;
}

export function newHealState(): HealState {
  return { resets: 0, streak: 0, recent: [], noProgress: null };
}

export function newQueueState(): QueueState {
  return { requeues: 0, waiting: false, dead: false };
}
