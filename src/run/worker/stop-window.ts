import {
  endedBefore,
  interrupted,
  stoppingSignalOf,
  wasInterrupted,
} from "../../core/failure/interruption.js";
import type { Outcome } from "../../core/model/outcome.js";
import type { ProcessHost } from "../process/process-host.js";
import type { TimerPort } from "./attempt-timers.js";

/** A scheduler signals processes one by one, and may reach a step this long before the launcher beside it. */
const SIGNALING_MS = 500;
/**
 * If the signal's time is unknown, or it first reached another machine, a step may end because of it this long before.
 */
const UNDATED_MS = 2_000;

/** The signals that stop a worker, each aborted when it comes. */
export interface StopSources {
  /** Take nothing more, finish what runs. */
  readonly drain: AbortSignal;
  /** The end comes within seconds: hand back what runs. */
  readonly end: AbortSignal;
  /** Notices signals that go to all processes, including those of steps. */
  readonly processes?: Pick<ProcessHost, "stops">;
  /** Whether its allocation may be ended at any time. */
  readonly inAllocation: boolean;
}

/** Distinguishes a step that has ended by itself from one that was ended with its worker. */
export class StopWindow {
  private askedAt: number | null = null;
  private endAt: number | null = null;

  constructor(
    private readonly from: StopSources,
    private readonly clock: TimerPort,
  ) {
    onceAborted(from.drain, () => {
      this.askedAt = clock.elapsed();
    });
    onceAborted(from.end, () => {
      this.endAt = clock.elapsed();
    });
  }

  /** Returns the outcome, or that what the attempt ran on was being stopped. `isWide`: it runs on several machines. */
  async judge(outcome: Outcome, isWide = false): Promise<Outcome> {
    const { exitedAt } = outcome;
    if (exitedAt === undefined || endedBefore(outcome)) return outcome;
    const known = (): boolean | null => this.isInterrupted(outcome, exitedAt, isWide);
    let wasEnded = await this.until(known, this.waitFor(outcome, isWide));
    // Its processes were signaled. On a busy machine the worker may notice that later.
    if (!wasEnded && this.wasSignaled(exitedAt, isWide)) wasEnded = await this.until(known, UNDATED_MS);
    return wasEnded ? interrupted(outcome) : outcome;
  }

  private get stops() {
    return this.from.processes?.stops ?? null;
  }

  /** Null if nothing is being stopped so far. A worker that only drains lets its steps end as they like. */
  private isInterrupted(outcome: Outcome, exitedAt: number, isWide: boolean): boolean | null {
    const { endAt } = this;
    if (this.askedAt !== null && endedBySignal(outcome)) return true;
    if (this.stops === null)
      return endAt === null ? null : wasInterrupted(exitedAt, { at: endAt, slackMs: UNDATED_MS });
    if (this.askedAt === null || this.signaledAt() === null) return null;
    return this.wasSignaled(exitedAt, isWide);
  }

  private wasSignaled(exitedAt: number, isWide: boolean): boolean {
    const at = this.signaledAt();
    return at !== null && wasInterrupted(exitedAt, { at, slackMs: isWide ? UNDATED_MS : SIGNALING_MS });
  }

  /**
   * When processes were signaled. A signal that came only to the launchers, or long before the worker was stopped, does
   * not count.
   */
  private signaledAt(): number | null {
    return this.stops?.firstSince((this.askedAt ?? this.clock.elapsed()) - UNDATED_MS) ?? null;
  }

  /** How long it may take until that is known. Other steps have the room meanwhile. */
  private waitFor(outcome: Outcome, isWide: boolean): number {
    if (isWide || endedBySignal(outcome)) return UNDATED_MS;
    const { inAllocation, drain } = this.from;
    if (!inAllocation && !drain.aborted) return 0;
    return this.stops === null ? UNDATED_MS : SIGNALING_MS;
  }

  private until(known: () => boolean | null, waitMs: number): Promise<boolean> {
    const { drain, end } = this.from;
    const now = known();
    if (waitMs === 0 || now !== null) return Promise.resolve(now === true);
    return new Promise((resolve) => {
      const settle = (): void => {
        cancel();
        forget?.();
        for (const signal of [drain, end]) signal.removeEventListener("abort", look);
        resolve(known() === true);
      };
      const look = (): void => {
        if (known() !== null) settle();
      };
      const cancel = this.clock.after(waitMs, settle);
      const forget = this.stops?.onCame(look);
      for (const signal of [drain, end]) signal.addEventListener("abort", look);
    });
  }
}

function onceAborted(signal: AbortSignal, call: () => void): void {
  if (signal.aborted) call();
  else signal.addEventListener("abort", call, { once: true });
}

function endedBySignal(outcome: Outcome): boolean {
  if (outcome.kind !== "failed" || outcome.facts.code !== undefined) return false;
  return stoppingSignalOf(outcome.facts) !== null;
}
