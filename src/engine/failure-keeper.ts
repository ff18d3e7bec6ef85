import type { Event } from "../core/model/events.js";
import type { Run } from "../core/model/run.js";

/** Leaves what is known of failures where steps and people can read it, before anything that follows from them begins. */
export interface FailureKeeper {
  /** What there is to write once these events are committed; null: nothing. `run` is the run just after them. */
  plan(run: Run, events: readonly Event[]): (() => void) | null;
}
