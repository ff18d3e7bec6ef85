/**
 * Signals that stop everything on a machine or in a batch job, as the launchers see them. Whoever sends one to all
 * processes reaches the launchers beside the steps; whoever only tells a worker to finish what it has does not.
 */
export class StopSignals {
  /** When the first one came, by `performance.now()`; null: none has. */
  at: number | null = null;
  private readonly listeners = new Set<() => void>();

  came(): void {
    this.at ??= performance.now();
    for (const listener of this.listeners) listener();
  }

  /** The answer takes it back. */
  onCame(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
