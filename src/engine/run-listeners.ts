import type { LoggedEvent } from "../core/events.js";
import type { Run } from "../core/run.js";

/** Called with committed events, in order. */
export type RunListener = (run: Run, events: readonly LoggedEvent[]) => void;

/** Those who want to know. A listener's fault is its own. */
export class RunListeners {
  private readonly listeners = new Set<RunListener>();

  add(listener: RunListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(run: Run, events: readonly LoggedEvent[]): void {
    for (const listener of this.listeners) {
      try {
        listener(run, events);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
