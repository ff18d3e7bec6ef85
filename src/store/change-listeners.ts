import { changesQueue } from "./group-slots.js";
import type { Append, StoreChange } from "./store.js";

/** The listeners for changes that this store object commits. */
export class ChangeListeners {
  readonly #listeners = new Set<{ readonly call: (change: StoreChange) => void }>();

  /** Adds a listener and returns a function that removes it. A listener that is added twice is called twice. */
  add(call: (change: StoreChange) => void): () => void {
    const listener = { call };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(kind: StoreChange["kind"], runId: number): void {
    for (const { call } of [...this.#listeners]) {
      try {
        call({ kind, runId });
      } catch {
        // Ignored: the data has been written, so a listener's defect must not look like a failed write.
      }
    }
  }

  tellCommit(appends: readonly Append[]): void {
    if (this.#listeners.size === 0) return;
    for (const { runId, events, run } of appends) {
      if (events.length > 0) this.tell("events", runId);
      if (run !== null && (run.wanted || changesQueue(run))) this.tell("wanted", runId);
    }
  }
}
