import { changesQueue } from "./places.js";
import type { Append, StoreChange } from "./store.js";

/** Who is to be told of what this store object has committed. */
export class ChangeListeners {
  readonly #listeners = new Set<{ readonly call: (change: StoreChange) => void }>();

  /** The function that ends it. A listener that is added twice is called twice. */
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
        // What was written is written: a listener's defect must not look like a failed write.
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
