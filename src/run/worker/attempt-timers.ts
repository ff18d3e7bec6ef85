import type { StopCause } from "../action/action.js";

/** The time functions that workers need. */
export interface TimerPort {
  /** Milliseconds since the epoch, for display only and never for measuring. */
  now(): number;
  /** Milliseconds on a monotonic clock. */
  elapsed(): number;
  /** Calls once after this time on the monotonic clock. Returns a function that cancels the timer. */
  after(delayMs: number, call: () => void): () => void;
}

/**
 * How often other signs of progress are checked within the idle time. An idle attempt is ended at most a fourth of it
 * too late.
 */
const LOOKS_PER_IDLE_TIME = 4;

/**
 * The wall and idle timeouts of one attempt. A sign of life only records the time. The idle timer checks it when it
 * fires and continues to wait, so that frequent output costs nothing.
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
    /** Checked at intervals, and before an idle attempt is ended. True counts as a sign of life. */
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
    // A failed check counts as no progress.
    if (await hasProgress().catch(() => false)) this.signOfLife();
  }

  private judgeIdle(idleMs: number): void {
    if (this.isCleared) return;
    const left = this.lastSignAt + idleMs - this.clock.elapsed();
    if (left <= 0) this.stop("idle_timeout");
    else this.watchIdle(idleMs, left);
  }
}
