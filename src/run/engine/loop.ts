import type { Store, StoreChange } from "../../store/store.js";
import type { Clock } from "./clock.js";

export interface LoopWork {
  /** Does the work once. If it fails, the next turn makes up for it. */
  readonly turn: () => Promise<unknown>;
  /** How long to rest after a turn unless somebody wakes the loop. Null means until somebody does. */
  readonly restMs: () => number | null;
  /** Subscribes to calls of `wake`, from the first turn or rest on. Returns a function that unsubscribes. */
  readonly wokenBy?: (wake: () => void) => () => void;
}

/**
 * Work that is done whenever somebody wakes the loop, and after each rest. Turns never overlap; wake-ups during a turn
 * lead to one more turn after it.
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

  /** Starts a turn now, or right after the present one. */
  wake(): void {
    if (this.stopped) return;
    this.listen();
    this.isWoken = true;
    if (this.isAtWork) return;
    this.isAtWork = true;
    this.underWay = this.takeTurns();
  }

  /** Starts the rest now: before the first turn, or because its length has changed. */
  rest(): void {
    if (this.stopped) return;
    this.listen();
    this.cancelRest();
    if (this.isAtWork) return;
    const ms = this.work.restMs();
    this.cancelRest = ms === null ? () => {} : this.clock.after(ms, () => this.wake());
  }

  /** Resolves when no turn is in progress. */
  async idle(): Promise<void> {
    while (this.isAtWork) await this.underWay;
  }

  /** Stops the loop. Resolves when the present turn is over. */
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
        // The work itself reports its errors. The next turn comes all the same.
      }
    }
    this.isAtWork = false;
    this.rest();
  }

  private listen(): void {
    this.stopListening ??= this.work.wokenBy?.(() => this.wake()) ?? (() => {});
  }
}

/** A store's changes as wake-ups. The listener is added late, because a database may use a connection for it. */
export function changesOf(
  store: Pick<Store, "onChange">,
  kind: StoreChange["kind"],
): (wake: () => void) => () => void {
  return (wake) =>
    store.onChange((change) => {
      if (change.kind === kind) wake();
    });
}
