import type { StopCause } from "../action/action.js";

/** Time as workers need it. */
export interface TimerPort {
  /** Milliseconds since the epoch: for people, never to measure by. */
  now(): number;
  /** Milliseconds since some moment, by a clock that nobody sets. */
  elapsed(): number;
  /** Calls once after that time by the same clock; the answer takes it back. */
  after(delayMs: number, call: () => void): () => void;
}

/**
 * The wall and the idle timeout of one attempt. A sign of life only notes the time: the idle timer looks at it when it
 * fires and goes on waiting, so that a chatty step costs nothing.
 */
export class AttemptTimers {
  private readonly cancels: (() => void)[] = [];
  private cancelIdle: () => void = () => {};
  private lastSignAt: number;

  constructor(
    private readonly clock: TimerPort,
    limits: { readonly timeoutMs: number | null; readonly idleTimeoutMs: number | null },
    private readonly stop: (cause: StopCause) => void,
  ) {
    this.lastSignAt = clock.elapsed();
    if (limits.timeoutMs !== null) this.cancels.push(clock.after(limits.timeoutMs, () => stop("timeout")));
    if (limits.idleTimeoutMs !== null) this.watchIdle(limits.idleTimeoutMs, limits.idleTimeoutMs);
  }

  signOfLife(): void {
    this.lastSignAt = this.clock.elapsed();
  }

  clear(): void {
    for (const cancel of this.cancels) cancel();
    this.cancels.length = 0;
    this.cancelIdle();
  }

  private watchIdle(idleMs: number, leftMs: number): void {
    this.cancelIdle = this.clock.after(leftMs, () => {
      const left = this.lastSignAt + idleMs - this.clock.elapsed();
      if (left <= 0) this.stop("idle_timeout");
      else this.watchIdle(idleMs, left);
    });
  }
}
