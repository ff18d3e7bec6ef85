import type { LoggedEvent } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";

/** What is shown while a run goes on. */
export interface Progress {
  events(run: Run, events: readonly LoggedEvent[]): void;
  /** A line of its own, such as "stopping". */
  say(text: string): void;
  /** Lines that a step printed. */
  printed(name: string, lines: readonly string[]): void;
  /** Takes away what is not meant to stay. */
  end(): void;
}

export const noProgress: Progress = { events: () => {}, say: () => {}, printed: () => {}, end: () => {} };
