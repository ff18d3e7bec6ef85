import type { Event } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";

/** Writes what is known about failures for steps and people to read, before any consequence begins. */
export interface FailureKeeper {
  /** Returns what to write once these events are committed; null for nothing. `run` is the run right after them. */
  plan(run: Run, events: readonly Event[]): (() => void) | null;
}
