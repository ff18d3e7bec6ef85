import type { NoProgress } from "./events.js";

/** A failure as the no-progress rule knows it again. */
export interface FailureMark {
  /** Numbers are part of it: a failure with fewer problems than before is a different one. */
  readonly signature: string;
  readonly diffHash: string | null;
}

/** What in-step healing has come to since the visit, or the present round of the queue, began. */
export interface HealState {
  /** Hard resets; each takes one of the step's attempts. */
  readonly resets: number;
  /** Failures in a row, the last included, that say and leave the same. */
  readonly streak: number;
  /** The last failures that count, oldest first. */
  readonly recent: readonly FailureMark[];
  /** The last failure has reached the limit. */
  readonly noProgress: NoProgress | null;
  /** An attempt has been ended because it fell silent. */
  readonly idled: boolean;
}

/** A loop that a job's failure has led to: another step mends, and the job is tried again. */
export interface Round {
  /** Ids of the jobs that it leads to. */
  readonly menders: readonly number[];
  /** The checkpoints of this round come after this one. */
  readonly after: number;
  /** What the failure said that it began with, and what the tree was after the mending before it; null: there was none. */
  readonly signature: string;
  readonly tree: string | null;
  /** Rounds in a row, the one before included, that came to the same. */
  readonly streak: number;
}

/** The state of a job in the queue. */
export interface QueueState {
  /** How often it was put back, since the run began or the last operator's retry. */
  readonly requeues: number;
  /** It waits for its turn. */
  readonly waiting: boolean;
  /** Its last failure has found the queue's attempts used up. */
  readonly dead: boolean;
}

export const NEW_HEAL_STATE: HealState = Object.freeze({
  resets: 0,
  streak: 0,
  recent: Object.freeze([]),
  noProgress: null,
  idled: false,
});

export const NEW_QUEUE_STATE: QueueState = Object.freeze({ requeues: 0, waiting: false, dead: false });
