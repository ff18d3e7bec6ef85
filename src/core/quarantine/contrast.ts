import type { FailureClass } from "../model/failure.js";
import type { ContrastedJob } from "./quarantine.js";

/** How many jobs in a row must have failed on a worker, each completed by another. */
export const FAILURES_IN_A_ROW = 3;

export interface FailedAttempt {
  readonly run: number;
  readonly job: number;
  readonly visit: number;
  readonly step: string;
  readonly attempt: number;
  readonly code: string;
}

interface Failed extends FailedAttempt {
  /** The worker that completed the job in the same visit, as the log names it. */
  completedOn: string | null;
}

/** Where a job failed in its newest visit. Null is the server's own worker. */
interface Met extends FailedAttempt {
  readonly on: ReadonlySet<string | null>;
}

interface Streak {
  /** By job: those that failed since anything last succeeded there, as long as somebody may complete them. */
  readonly failed: Map<number, Failed>;
  /** How many there were, whatever has become of them. */
  jobs: number;
  /** It has failed again after another had completed one of them. */
  goesOn: boolean;
}

/**
 * Finds workers that fail what others complete. Without that contrast the fault is the step's own. And while something
 * that all of them need is down, all of them fail; when it is back, each completes what another has failed. So it also
 * takes a failure after the first of these completions. A job that failed on two workers in one visit blames neither.
 */
export class Contrast {
  private readonly streaks = new Map<string, Streak>();
  /** By job. */
  private readonly met = new Map<number, Met>();

  /** `worker` is null for the server's own, which is never blamed. */
  failed(worker: string | null, attempt: FailedAttempt): void {
    const before = this.met.get(attempt.job);
    const elsewhere = before?.visit === attempt.visit ? before.on : [];
    this.met.set(attempt.job, { ...attempt, on: new Set([...elsewhere, worker]) });
    if (worker === null) return;
    const streak = this.streaks.get(worker) ?? { failed: new Map(), jobs: 0, goesOn: false };
    this.streaks.set(worker, streak);
    if (completedOf(streak).length > 0) streak.goesOn = true;
    if (!streak.failed.has(attempt.job)) streak.jobs += 1;
    streak.failed.set(attempt.job, { ...attempt, completedOn: null });
  }

  /** `worker` is null for the server's own. `label` is how the log names it. */
  succeeded(
    worker: string | null,
    label: string,
    { job, visit }: Pick<FailedAttempt, "job" | "visit">,
  ): void {
    if (worker !== null) this.streaks.delete(worker);
    for (const { failed } of this.streaks.values()) {
      const before = failed.get(job);
      if (before?.visit === visit && this.metOn(job) < 2) before.completedOn ??= label;
    }
    this.met.delete(job);
  }

  /** On how many workers the job has failed in this visit. */
  private metOn(job: number): number {
    return this.met.get(job)?.on.size ?? 0;
  }

  /**
   * Forgets jobs that will not be completed in this visit, or whose completion will not be noticed here. Those already
   * completed still count.
   */
  forget(isOver: (attempt: FailedAttempt) => boolean): void {
    for (const { failed } of this.streaks.values())
      for (const each of [...failed.values()])
        if (each.completedOn === null && isOver(each)) failed.delete(each.job);
    for (const each of [...this.met.values()]) if (isOver(each)) this.met.delete(each.job);
  }

  /** Clears the worker's record. */
  clear(worker: string): void {
    this.streaks.delete(worker);
  }

  /** Whether its last jobs have all failed, whatever the cause. */
  isSuspect(worker: string): boolean {
    return (this.streaks.get(worker)?.jobs ?? 0) >= FAILURES_IN_A_ROW;
  }

  /** Workers that are to be quarantined, and why. */
  found(): { readonly worker: string; readonly jobs: readonly ContrastedJob[] }[] {
    return [...this.streaks].flatMap(([worker, streak]) => {
      const jobs = completedOf(streak);
      const isFound = streak.goesOn && jobs.length >= FAILURES_IN_A_ROW;
      return isFound ? [{ worker, jobs: jobs.slice(-FAILURES_IN_A_ROW) }] : [];
    });
  }
}

function completedOf({ failed }: Streak): ContrastedJob[] {
  return [...failed.values()].flatMap(({ visit: _visit, completedOn, ...failure }) =>
    completedOn === null ? [] : [{ ...failure, completedOn }],
  );
}

/** What a worker takes down with it is no failure of its jobs, and what they lack of memory or time no other has more of. */
export function blamesWorker(failureClass: FailureClass): boolean {
  return failureClass !== "infrastructure" && failureClass !== "resource";
}
