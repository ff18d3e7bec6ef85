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

/** How many looks there are within the idle time at what else may show progress: an end comes a fourth too late at most. */
const LOOKS_PER_IDLE_TIME = 4;

/**
 * The wall and the idle timeout of one attempt. A sign of life only notes the time: the idle timer looks at it when it
 * fires and goes on waiting, so that a chatty step costs nothing.
 */
export class AttemptTimers {
  private readonly cancels: (() => void)[] = [];
  private cancelIdle: () => void = () => {};
  private lastSignAt: number;
  private isCleared = false;

  constructor(
    private readonly clock: TimerPort,
    limits: { readonly timeoutMs: number | null; readonly idleTimeoutMs: number | null },
    private readonly stop: (cause: StopCause) => void,
    /** Asked now and then, and before an idle attempt is ended: true is a sign of life. */
    private readonly hasProgress: (() => Promise<boolean>) | null = null,
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
    this.isCleared = true;
  }

  private watchIdle(idleMs: number, leftMs: number): void {
    const untilLook = Math.ceil(idleMs / LOOKS_PER_IDLE_TIME);
    const waitMs = this.hasProgress === null ? leftMs : Math.min(leftMs, untilLook);
    this.cancelIdle = this.clock.after(waitMs, () => {
      if (this.hasProgress === null) this.judgeIdle(idleMs);
      else void this.look(this.hasProgress).then(() => this.judgeIdle(idleMs));
    });
  }

  private async look(hasProgress: () => Promise<boolean>): Promise<void> {
    // What cannot be looked at shows nothing.
    if (await hasProgress().catch(() => false)) this.signOfLife();
  }

  private judgeIdle(idleMs: number): void {
    if (this.isCleared) return;
    const left = this.lastSignAt + idleMs - this.clock.elapsed();
    if (left <= 0) this.stop("idle_timeout");
    else this.watchIdle(idleMs, left);
  }
}
