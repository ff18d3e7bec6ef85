import { durationAmount } from "../../core/text/amount-text.js";
import type { TimerPort } from "../attempt-timers.js";

/** When a worker leaves by itself. Without these it stays until it is told to stop. */
export interface Stay {
  /** How long what it runs on is there for it, from now. */
  readonly lifetimeMs?: number | null;
  /** So long before the end of that time it takes nothing any more. */
  readonly drainBeforeMs?: number | null;
  /** It leaves when it has had nothing to do for as long. */
  readonly idleExitMs?: number | null;
}

interface LifePorts {
  readonly clock: TimerPort;
  readonly drain: AbortSignal;
  readonly log: (line: string) => void;
}

/** Knows when a worker is to take nothing more: it was told so, its time is over, or nobody has had any use for it. */
export class WorkerLife {
  private readonly controller = new AbortController();
  /** Aborted once: take nothing new, finish what runs, leave. */
  readonly over = this.controller.signal;
  private readonly endsAt: number | null;
  private cancelEnd: () => void = () => {};
  private cancelIdle: () => void = () => {};

  constructor(
    private readonly ports: LifePorts,
    private readonly stay: Stay,
  ) {
    const { clock, drain } = ports;
    const { lifetimeMs = null, drainBeforeMs } = stay;
    const leftMs = lifetimeMs === null ? null : Math.max(0, lifetimeMs - (drainBeforeMs ?? 0));
    this.endsAt = leftMs === null ? null : clock.elapsed() + leftMs;
    drain.addEventListener("abort", () => this.controller.abort(), { once: true });
    if (drain.aborted) this.controller.abort();
    if (leftMs !== null) this.cancelEnd = clock.after(leftMs, () => this.end("its time is over"));
    this.idle();
  }

  /** What is begun now should be over in as many milliseconds; null: it stays. */
  leftMs(): number | null {
    return this.endsAt === null ? null : Math.max(0, Math.floor(this.endsAt - this.ports.clock.elapsed()));
  }

  busy(): void {
    this.cancelIdle();
  }

  /** It has nothing to do from now on. */
  idle(): void {
    const { idleExitMs = null } = this.stay;
    this.cancelIdle();
    if (idleExitMs !== null && !this.over.aborted)
      this.cancelIdle = this.ports.clock.after(idleExitMs, () =>
        this.end(`it was idle for ${durationAmount(idleExitMs)}`),
      );
  }

  clear(): void {
    this.cancelEnd();
    this.cancelIdle();
  }

  private end(why: string): void {
    this.ports.log(`leaves: ${why}`);
    this.controller.abort();
  }
}
