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
