import type { LoggedEvent } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";

/** Shows a run while it goes on. */
export interface Progress {
  events(run: Run, events: readonly LoggedEvent[]): void;
  /** Prints a line of its own, such as "stopping". */
  say(text: string): void;
  /** Shows lines that a step printed. */
  printed(name: string, lines: readonly string[]): void;
  /** Removes what is not meant to stay on the screen. */
  end(): void;
}

export const noProgress: Progress = { events: () => {}, say: () => {}, printed: () => {}, end: () => {} };
