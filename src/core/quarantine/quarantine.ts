import type { FailureClass } from "../model/failure.js";

/** How long the first quarantine lasts; each that follows a failed probation lasts twice as long. */
export const FIRST_QUARANTINE_MS = 10 * 60_000;
export const MAX_QUARANTINE_MS = 24 * 60 * 60_000;

export type HealthState = "healthy" | "quarantined" | "probation";

/** What all servers of a store know of one worker, or of one node of a cluster. Times are on the store's clock. */
export interface WorkerHealth {
  readonly quarantine: Quarantine | null;
  /** How the last quarantine ended. */
  readonly freed: Freed | null;
}

export interface Quarantine {
  readonly since: number;
  /** Until then it gets nothing; afterwards one attempt shows whether it works again. */
  readonly until: number;
  /** From `since`, or from the last probation that failed. */
  readonly forMs: number;
  /** 1, and one more with each probation that failed. */
  readonly times: number;
  /** Why. */
  readonly jobs: readonly ContrastedJob[];
  /** When its probation was granted. One that nobody hears of again is over at `until`. */
  readonly probationAt: number | null;
}

/** A job that failed on the worker and that another completed, in the same visit. */
export interface ContrastedJob {
  readonly run: number;
  readonly job: number;
  readonly step: string;
  readonly attempt: number;
  readonly code: string;
  /** As the log names it. */
  readonly completedOn: string;
}

interface Freed {
  readonly at: number;
  /** Null if its probation succeeded. */
  readonly by: string | null;
  readonly reason: string;
}

export const HEALTHY: WorkerHealth = { quarantine: null, freed: null };

/** Due for its probation, it is on probation too: nothing else is in the way of the one attempt. */
export function stateOf({ quarantine }: WorkerHealth, now: number): HealthState {
  if (quarantine === null) return "healthy";
  return quarantine.probationAt !== null || now >= quarantine.until ? "probation" : "quarantined";
}

/** One that is in quarantine already stays in it as it is. */
export function quarantine(health: WorkerHealth, jobs: readonly ContrastedJob[], now: number): WorkerHealth {
  if (health.quarantine !== null) return health;
  const forMs = FIRST_QUARANTINE_MS;
  const begun = { since: now, until: now + forMs, forMs, times: 1, jobs, probationAt: null };
  return { ...health, quarantine: begun };
}

/** One attempt may be made. The next is due after twice the time, should nobody hear of this one again. */
export function beginProbation(health: WorkerHealth, now: number): WorkerHealth {
  return changed(health, (before) => ({
    ...before,
    probationAt: now,
    until: now + longerThan(before.forMs),
  }));
}

/** Its attempt has failed. */
export function failProbation(health: WorkerHealth, now: number): WorkerHealth {
  return changed(health, (before) => {
    const forMs = longerThan(before.forMs);
    return { ...before, probationAt: null, forMs, until: now + forMs, times: before.times + 1 };
  });
}

/** Drops a probation whose attempt was not made, or gave no answer. The next one may. */
export function dropProbation(health: WorkerHealth, now: number): WorkerHealth {
  return changed(health, (before) =>
    before.probationAt === null ? before : { ...before, probationAt: null, until: now },
  );
}

export function free(health: WorkerHealth, freed: Freed): WorkerHealth {
  return health.quarantine === null ? health : { quarantine: null, freed };
}

function longerThan(ms: number): number {
  return Math.min(2 * ms, MAX_QUARANTINE_MS);
}

function changed(health: WorkerHealth, edit: (before: Quarantine) => Quarantine): WorkerHealth {
  return health.quarantine === null ? health : { ...health, quarantine: edit(health.quarantine) };
}

/** How many jobs in a row must have failed on a worker, each completed by another. */
const FAILURES_IN_A_ROW = 3;

interface FailedAttempt {
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

/**
 * How a worker or a node stands. `suspect`: its last jobs have all failed, so others come first. `out`: it is in
 * quarantine. `due`: that is over, and nobody has granted it a probation yet. `proving`: it may have one attempt.
 * `unknown`: nobody has looked yet; it is known in a moment.
 */
export type Standing = "good" | "suspect" | "out" | "due" | "proving" | "unknown";

/** What is known of the health of workers, by the name that answers for their attempts. */
export interface Standings {
  standingOf(name: string): Standing;
  /** An attempt could be its probation. */
  askProbation(name: string): void;
}

export const ALL_GOOD: Standings = { standingOf: () => "good", askProbation: () => {} };

/** It may be given any attempt. */
export function isTrusted(standing: Standing): boolean {
  return standing === "good" || standing === "suspect";
}
