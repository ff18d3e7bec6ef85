import type { StopCause } from "../action/action.js";

/** Milliseconds since the epoch, and a timer that can be taken back. */
export interface TimerPort {
  now(): number;
  setTimer(at: number, call: () => void): () => void;
}

/**
 * The wall and the idle timeout of one attempt. A sign of life only notes the time: the idle timer looks at it when it
 * fires and goes on waiting, so that a chatty step costs nothing.
 */
export class AttemptTimers {
  private readonly cancels: (() => void)[] = [];
  private lastSignAt: number;

  constructor(
    private readonly clock: TimerPort,
    limits: { readonly timeoutMs: number | null; readonly idleTimeoutMs: number | null },
    private readonly stop: (cause: StopCause) => void,
  ) {
    this.lastSignAt = clock.now();
    if (limits.timeoutMs !== null)
      this.cancels.push(clock.setTimer(clock.now() + limits.timeoutMs, () => stop("timeout")));
    if (limits.idleTimeoutMs !== null) this.watchIdle(limits.idleTimeoutMs);
  }

  signOfLife(): void {
    this.lastSignAt = this.clock.now();
  }

  clear(): void {
    for (const cancel of this.cancels) cancel();
    this.cancels.length = 0;
  }

  private watchIdle(idleMs: number): void {
    const cancel = this.clock.setTimer(this.lastSignAt + idleMs, () => {
      if (this.clock.now() - this.lastSignAt >= idleMs) this.stop("idle_timeout");
      else this.watchIdle(idleMs);
    });
    this.cancels.push(cancel);
  }
}
