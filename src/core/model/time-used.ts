import type { Json } from "../text/json.js";
import type { HoldAction } from "./events.js";

/** What becomes of a hold that nobody decides in time. */
export interface HoldExpiry {
  readonly expiresMs: number;
  /** `retry` once a job; from then on the job fails. */
  readonly action: HoldAction;
  /** What `complete` gives. */
  readonly output?: Json;
}

/** Without the time that a run is paused or held. */
export interface TimeLimits {
  /** The run is canceled then. */
  readonly deadlineMs: number | null;
  /** When to warn. The run continues. */
  readonly warnAfterMs: number | null;
}

/** What of the run's time limits is used. */
export interface TimeUsed {
  readonly usedMs: number;
  readonly warned: boolean;
  /** Null if its time does not count now. */
  readonly counting: {
    readonly since: number;
    readonly deadlineAt: number | null;
    readonly warnAt: number | null;
  } | null;
}

export const NO_TIME_USED: TimeUsed = { usedMs: 0, warned: false, counting: null };
