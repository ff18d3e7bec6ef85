/** Signals with less time between them count as one. */
const AT_ONCE_MS = 100;

/**
 * Signals that stop everything on a machine or in a batch job, as the launchers see them. A signal to all processes
 * reaches the launchers beside the steps; one that only asks a worker to finish does not.
 */
export class StopSignals {
  /** When they came, by `performance.now()`. */
  private readonly times: number[] = [];
  private readonly listeners = new Set<() => void>();

  came(at = performance.now()): void {
    // Each launcher tells of the same one.
    if (at - (this.times.at(-1) ?? Number.NEGATIVE_INFINITY) > AT_ONCE_MS) this.times.push(at);
    for (const listener of this.listeners) listener();
  }

  /** The first signal since then; null if there was none. */
  firstSince(then: number): number | null {
    return this.times.find((at) => at >= then) ?? null;
  }

  /** The answer takes it back. */
  onCame(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
