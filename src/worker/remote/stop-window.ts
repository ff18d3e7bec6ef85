import type { FailureFacts } from "../../core/model/failure.js";
import type { TimerPort } from "../attempt-timers.js";
import type { Report } from "../worker.js";

/** By these, schedulers, service managers and people stop all processes of a worker at once, its steps among them. */
const STOPPING: ReadonlyMap<string, number> = new Map([
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGQUIT", 3],
  ["SIGKILL", 9],
  ["SIGUSR1", 10],
  ["SIGUSR2", 12],
  ["SIGTERM", 15],
  ["SIGXCPU", 24],
]);
/** A shell whose program was ended by a signal exits with that signal's number above this. */
const SIGNAL_EXIT_BASE = 128;
/** A step may die of the signal before its worker has taken notice of it. */
const STOP_WINDOW_MS = 2_000;

/** What tells a worker to stop, each aborted when it does. */
export interface StopSignals {
  /** Take nothing more, finish what runs. */
  readonly drain: AbortSignal;
  /** The end comes in seconds: hand back what runs. */
  readonly end: AbortSignal;
}

/** Tells a step that has ended itself from one that was ended with its worker. */
export class StopWindow {
  constructor(
    private readonly told: StopSignals,
    private readonly clock: TimerPort,
  ) {}

  /** The report as it is, or that what the attempt ran on was being stopped. `isWide`: it runs on several machines. */
  async judge(report: Report, isWide = false): Promise<Report> {
    if (report.result.kind !== "failed") return report;
    const { facts } = report.result;
    const how = await this.howStopped(facts, isWide);
    if (how === null) return report;
    const message = `${how} while its worker was being stopped`;
    return { ...report, result: { kind: "failed", facts: { ...facts, evicted: true, message } } };
  }

  private async howStopped(facts: FailureFacts, isWide: boolean): Promise<string | null> {
    const { drain, end } = this.told;
    const signal = stoppingSignalOf(facts);
    if (signal !== null) return (await this.isTold(drain)) ? `ended by ${signal}` : null;
    if (!isPlainExit(facts)) return null;
    // A program may catch the signal and exit as it likes. A worker that only drains lets its steps finish, and what they
    // do then is their own. Of several machines another one may be stopped before this worker hears of anything.
    const mayBeStopped = isWide || drain.aborted;
    return mayBeStopped && (await this.isTold(end)) ? `exited with ${facts.exitCode}` : null;
  }

  /** Already, or within the time that the signal may take. */
  private isTold(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (): void => {
        cancel();
        signal.removeEventListener("abort", settle);
        resolve(signal.aborted);
      };
      const cancel = this.clock.after(STOP_WINDOW_MS, settle);
      signal.addEventListener("abort", settle, { once: true });
      if (signal.aborted) settle();
    });
  }
}

/** It has ended by itself with a failure that it says nothing more about. */
function isPlainExit({ exitCode = 0, code, timeout, evicted, declared }: FailureFacts): boolean {
  return exitCode > 0 && code === undefined && timeout === undefined && !evicted && declared === undefined;
}

/** Null: it ended in another way, or Daruma has ended it for a reason of its own. */
function stoppingSignalOf({ signal, exitCode, code, timeout, evicted }: FailureFacts): string | null {
  if (code !== undefined || timeout !== undefined || evicted === true) return null;
  if (signal !== undefined) return STOPPING.has(signal) ? signal : null;
  for (const [name, number] of STOPPING) if (exitCode === SIGNAL_EXIT_BASE + number) return name;
  return null;
}
