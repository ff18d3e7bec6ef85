import type { ProcessHost } from "../../action/process/process-host.js";
import {
  type EndBegun,
  endedBefore,
  interrupted,
  stoppingSignalOf,
  wasInterrupted,
} from "../../core/failure/interruption.js";
import type { Outcome } from "../../core/model/outcome.js";
import type { TimerPort } from "../attempt-timers.js";
import type { Report } from "../worker.js";

/** A scheduler signals one process after the other, and may reach a step so much before the launcher beside it. */
const SIGNALING_MS = 500;
/** Where nobody dates the signal, or it comes to another machine first, a step may end of it so much before. */
const UNDATED_MS = 2_000;

/** What tells a worker to stop, each aborted when it does. */
export interface StopSources {
  /** Take nothing more, finish what runs. */
  readonly drain: AbortSignal;
  /** The end comes in seconds: hand back what runs. */
  readonly end: AbortSignal;
  /** It sees signals that go to all processes, those of the steps among them. */
  readonly processes?: Pick<ProcessHost, "stops">;
  /** Its allocation may be ended at any time. */
  readonly inAllocation: boolean;
}

/** Tells a step that has ended itself from one that was ended with its worker. */
export class StopWindow {
  private endAt: number | null = null;

  constructor(
    private readonly from: StopSources,
    private readonly clock: TimerPort,
  ) {
    const note = (): void => {
      this.endAt ??= clock.elapsed();
    };
    from.end.addEventListener("abort", note, { once: true });
    if (from.end.aborted) note();
  }

  /** The report as it is, or that what the attempt ran on was being stopped. `isWide`: it runs on several machines. */
  async judge(report: Report, isWide = false): Promise<Report> {
    const { result, exitedAt } = report;
    if (exitedAt === undefined || endedBefore(result)) return report;
    const known = (): boolean | null => this.isInterrupted(result, exitedAt, isWide);
    const wasEnded = await this.until(known, this.waitFor(result, isWide));
    return wasEnded ? { ...report, result: interrupted(result) } : report;
  }

  private get stops() {
    return this.from.processes?.stops ?? null;
  }

  /** Null: nothing is being stopped so far. */
  private isInterrupted(result: Outcome, exitedAt: number, isWide: boolean): boolean | null {
    if (endedBySignal(result) && this.from.drain.aborted) return true;
    const begun = this.begun(isWide);
    return begun === null ? null : wasInterrupted(exitedAt, begun);
  }

  /** A worker that is only to drain lets its steps finish, and what they do then is their own. */
  private begun(isWide: boolean): EndBegun | null {
    const { stops } = this;
    if (stops === null) return this.endAt === null ? null : { at: this.endAt, slackMs: UNDATED_MS };
    // One that comes to the launchers alone stops no worker.
    if (stops.at === null || !this.from.drain.aborted) return null;
    return { at: stops.at, slackMs: isWide ? UNDATED_MS : SIGNALING_MS };
  }

  /** So long it takes until it is known; other steps have the room meanwhile. */
  private waitFor(result: Outcome, isWide: boolean): number {
    if (isWide || endedBySignal(result)) return UNDATED_MS;
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

function endedBySignal(result: Outcome): boolean {
  return (
    result.kind === "failed" && result.facts.code === undefined && stoppingSignalOf(result.facts) !== null
  );
}
