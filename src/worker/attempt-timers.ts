import type { StopCause } from "../action/action.js";

/** Milliseconds since the epoch, and a timer that can be taken back. */
export interface TimerPort {
  now(): number;
  setTimer(at: number, call: () => void): () => void;
}

/** How many looks there are within the idle time at what else may show progress: an end comes a fourth too late at most. */
const LOOKS_PER_IDLE_TIME = 4;

/**
 * The wall and the idle timeout of one attempt. A sign of life only notes the time: the idle timer looks at it when it
 * fires and goes on waiting, so that a chatty step costs nothing.
 */
export class AttemptTimers {
  private readonly cancels: (() => void)[] = [];
  private lastSignAt: number;
  private isCleared = false;

  constructor(
    private readonly clock: TimerPort,
    limits: { readonly timeoutMs: number | null; readonly idleTimeoutMs: number | null },
    private readonly stop: (cause: StopCause) => void,
    /** Asked now and then, and before an idle attempt is ended: true is a sign of life. */
    private readonly hasProgress: (() => Promise<boolean>) | null = null,
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
    this.isCleared = true;
  }

  private watchIdle(idleMs: number): void {
    const endsAt = this.lastSignAt + idleMs;
    const lookAt = this.clock.now() + Math.ceil(idleMs / LOOKS_PER_IDLE_TIME);
    const at = this.hasProgress === null ? endsAt : Math.min(endsAt, lookAt);
    this.cancels.push(
      this.clock.setTimer(at, () => {
        if (this.hasProgress === null) this.judgeIdle(idleMs);
        else void this.look(this.hasProgress).then(() => this.judgeIdle(idleMs));
      }),
    );
  }

  private async look(hasProgress: () => Promise<boolean>): Promise<void> {
    // What cannot be looked at shows nothing.
    if (await hasProgress().catch(() => false)) this.signOfLife();
  }

  private judgeIdle(idleMs: number): void {
    if (this.isCleared) return;
    if (this.clock.now() - this.lastSignAt >= idleMs) this.stop("idle_timeout");
    else this.watchIdle(idleMs);
  }
}
