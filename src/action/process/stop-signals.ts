/** Those that come with less between them are one. */
const AT_ONCE_MS = 100;

/**
 * Signals that stop everything on a machine or in a batch job, as the launchers see them. Whoever sends one to all
 * processes reaches the launchers beside the steps; whoever only tells a worker to finish what it has does not.
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

  /** Null: none has come since then. */
  firstSince(then: number): number | null {
    return this.times.find((at) => at >= then) ?? null;
  }

  /** The answer takes it back. */
  onCame(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
