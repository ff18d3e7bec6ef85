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

/** Tells a step that has ended itself from one that was ended with its worker. */
export class StopWindow {
  constructor(
    /** Aborted when the worker gets a signal to stop. */
    private readonly told: AbortSignal,
    private readonly clock: TimerPort,
  ) {}

  /** The report as it is, or that what the attempt ran on was being stopped. */
  async judge(report: Report): Promise<Report> {
    if (report.result.kind !== "failed") return report;
    const { facts } = report.result;
    const signal = stoppingSignalOf(facts);
    if (signal === null || !(await this.isStopping())) return report;
    const message = `ended by ${signal} while its worker was being stopped`;
    return { ...report, result: { kind: "failed", facts: { ...facts, evicted: true, message } } };
  }

  /** Told already, or within the time that the signal may take. */
  private isStopping(): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this.told.removeEventListener("abort", end);
        resolve(this.told.aborted);
      };
      const cancel = this.clock.after(STOP_WINDOW_MS, end);
      this.told.addEventListener("abort", end, { once: true });
      if (this.told.aborted) end();
    });
  }
}

/** Null: it ended in another way, or Daruma has ended it for a reason of its own. */
function stoppingSignalOf({ signal, exitCode, code, timeout, evicted }: FailureFacts): string | null {
  if (code !== undefined || timeout !== undefined || evicted === true) return null;
  if (signal !== undefined) return STOPPING.has(signal) ? signal : null;
  for (const [name, number] of STOPPING) if (exitCode === SIGNAL_EXIT_BASE + number) return name;
  return null;
}
