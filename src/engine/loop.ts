import type { Store, StoreChange } from "../store/store.js";
import type { Clock } from "./clock.js";

export interface LoopWork {
  /** What is done once. A turn that fails is made up for by the next one. */
  readonly turn: () => Promise<unknown>;
  /** How long the loop rests after it, unless somebody wakes it; null: until somebody does. */
  readonly restMs: () => number | null;
  /** Calls `wake` from the first turn or rest on, until the answer is called. */
  readonly wokenBy?: (wake: () => void) => () => void;
}

/**
 * Work that is done again and again: when somebody wakes the loop, and after each rest. There is one turn at a time, and
 * one more after it for all who woke the loop meanwhile.
 */
export class Loop {
  private underWay: Promise<void> | null = null;
  private isAtWork = false;
  private isWoken = false;
  private stopped = false;
  private cancelRest: () => void = () => {};
  private stopListening: (() => void) | null = null;

  constructor(
    private readonly clock: Pick<Clock, "after">,
    private readonly work: LoopWork,
  ) {}

  get isStopped(): boolean {
    return this.stopped;
  }

  /** A turn begins now, or right after the one that is under way. */
  wake(): void {
    if (this.stopped) return;
    this.listen();
    this.isWoken = true;
    if (this.isAtWork) return;
    this.isAtWork = true;
    this.underWay = this.takeTurns();
  }

  /** The rest begins now: the loop has done nothing yet, or how long it rests has changed. */
  rest(): void {
    if (this.stopped) return;
    this.listen();
    this.cancelRest();
    if (this.isAtWork) return;
    const ms = this.work.restMs();
    this.cancelRest = ms === null ? () => {} : this.clock.after(ms, () => this.wake());
  }

  /** Resolves when no turn is under way. */
  async idle(): Promise<void> {
    while (this.isAtWork) await this.underWay;
  }

  /** Resolves when the turn that is under way is over; there is none after it. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelRest();
    this.stopListening?.();
    await this.underWay;
  }

  private async takeTurns(): Promise<void> {
    while (this.isWoken && !this.stopped) {
      this.isWoken = false;
      try {
        await this.work.turn();
      } catch {
        // The owner of the work says what is worth saying; the next turn comes all the same.
      }
    }
    this.isAtWork = false;
    this.rest();
  }

  private listen(): void {
    this.stopListening ??= this.work.wokenBy?.(() => this.wake()) ?? (() => {});
  }
}

/** Changes of a store as what wakes a loop. A database may keep a connection for a listener, so none is added before. */
export function changesOf(
  store: Pick<Store, "onChange">,
  kind: StoreChange["kind"],
): (wake: () => void) => () => void {
  return (wake) =>
    store.onChange((change) => {
      if (change.kind === kind) wake();
    });
}
