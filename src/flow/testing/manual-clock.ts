import type { Clock } from "../../run/engine/clock.js";

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

/** A clock that moves only when told to; timers fire in the order of their times. */
export class ManualClock implements Clock {
  /** In the order in which they were set. */
  private readonly timers = new Set<Timer>();

  /** By how much the clock on the wall was set. */
  private shift = 0;

  constructor(private time = 1_700_000_000_000) {}

  now(): number {
    return this.time + this.shift;
  }

  setTimer(at: number, call: () => void): () => void {
    return this.after(at - this.now(), call);
  }

  /** Somebody sets the clock on the wall, forward or back; no time passes. */
  set(byMs: number): void {
    this.shift += byMs;
  }

  elapsed(): number {
    return this.time;
  }

  after(delayMs: number, call: () => void): () => void {
    const timer: Timer = { at: this.time + delayMs, call };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /** Move to the next timer and fire it. False: there is none. */
  fireNext(): boolean {
    const next = this.next();
    if (next === null) return false;
    this.timers.delete(next);
    this.time = Math.max(this.time, next.at);
    next.call();
    return true;
  }

  /** Of those due at one time, the one that was set first. */
  private next(): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.timers) if (next === null || timer.at < next.at) next = timer;
    return next;
  }

  /** Nothing that was set before ever fires. */
  forget(): void {
    this.timers.clear();
  }

  /** As for a process that was stopped: time passes, and what came due meanwhile fires late, one after the other. */
  standStill(ms: number): void {
    this.time += ms;
    this.advance(0);
  }

  /** Move on without firing anything that is not due. */
  advance(ms: number): void {
    const target = this.time + ms;
    for (;;) {
      const due = this.next();
      if (due === null || due.at > target) break;
      this.timers.delete(due);
      this.time = Math.max(this.time, due.at);
      due.call();
    }
    this.time = target;
  }
}
