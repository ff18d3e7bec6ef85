import type { Store } from "../../store/store.js";

/**
 * How soon a reader sees what another process has written: a store tells only of its own commits, unless the database
 * itself can tell.
 */
const POLL_MS = 250;

/** Waits for a store to change. What changes between two waits is not missed. */
export interface Changes {
  /** Resolves at a change of the run (by default of any), after a while, or when the signal aborts. */
  next(wanted: { readonly runId?: number; readonly signal: AbortSignal }): Promise<void>;
  /** Runs that have changed since the last call. */
  take(): Set<number>;
  stop(): void;
}

export function changesOf(store: Store, pollMs: number = POLL_MS): Changes {
  let changed = new Set<number>();
  let wake: (() => void) | null = null;
  const unsubscribe = store.onChange(({ kind, runId }) => {
    if (kind !== "events") return;
    changed.add(runId);
    wake?.();
  });
  return {
    next: ({ runId, signal }) =>
      new Promise((resolve) => {
        const isWanted = (): boolean => (runId === undefined ? changed.size > 0 : changed.delete(runId));
        if (signal.aborted || isWanted()) return resolve();
        const timer = setTimeout(done, pollMs);
        signal.addEventListener("abort", done, { once: true });
        wake = () => {
          if (isWanted()) done();
        };
        function done(): void {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          wake = null;
          resolve();
        }
      }),
    take: () => {
      const taken = changed;
      changed = new Set();
      return taken;
    },
    stop: unsubscribe,
  };
}
