import { durationAmount } from "../../core/text/amount-text.js";
import type { TimerPort } from "../../run/worker/attempt-timers.js";

/** When a worker leaves by itself. By default it stays until it is stopped. */
export interface Stay {
  /** How long its resources will be available, from now. */
  readonly lifetimeMs?: number | null;
  /** How long before that it stops taking work. */
  readonly drainBeforeMs?: number | null;
  /** How long it may have nothing to do before it leaves. */
  readonly idleExitMs?: number | null;
}

interface LifePorts {
  readonly clock: TimerPort;
  readonly drain: AbortSignal;
  readonly log: (line: string) => void;
}

/** Knows when a worker must stop taking work: it was asked to, its time is over, or it has been idle for too long. */
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

  /** The time within which work that begins now should end; null if the worker stays. */
  leftMs(): number | null {
    return this.endsAt === null ? null : Math.max(0, Math.floor(this.endsAt - this.ports.clock.elapsed()));
  }

  busy(): void {
    this.cancelIdle();
  }

  /** Called when it has nothing to do. */
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
