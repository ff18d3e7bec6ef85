export type HealthState = "healthy" | "quarantined" | "probation";

/** What all servers of a store know of one worker, or of one node of a cluster. Times are on the store's clock. */
export interface WorkerHealth {
  readonly quarantine: Quarantine | null;
  /** How the last quarantine ended. */
  readonly freed: Freed | null;
}

interface Quarantine {
  readonly since: number;
  /** Until then it gets nothing; afterwards one attempt shows whether it works again. */
  readonly until: number;
  /** How long this one, or after a failed probation the next one, lasts. */
  readonly forMs: number;
  /** 1, and one more with each probation that failed. */
  readonly times: number;
  /** Why. */
  readonly jobs: readonly ContrastedJob[];
  /** The attempt that shows it has been let through. */
  readonly probation: Probation | null;
}

/** A job that failed on the worker and that another completed, in the same visit. */
interface ContrastedJob {
  readonly run: number;
  readonly job: number;
  readonly step: string;
  readonly attempt: number;
  readonly code: string;
  /** As the log names it. */
  readonly completedOn: string;
}

interface Probation {
  /** Whose runs it may be of. */
  readonly engine: string;
  readonly at: number;
}

interface Freed {
  readonly at: number;
  /** Null: its probation succeeded. */
  readonly by: string | null;
  readonly reason: string;
}

export const HEALTHY: WorkerHealth = { quarantine: null, freed: null };

/** Due for its probation, it is on probation too: nothing else is in the way of the one attempt. */
export function stateOf({ quarantine }: WorkerHealth, now: number): HealthState {
  if (quarantine === null) return "healthy";
  return quarantine.probation !== null || now >= quarantine.until ? "probation" : "quarantined";
}

export function free(health: WorkerHealth, freed: Freed): WorkerHealth {
  return health.quarantine === null ? health : { quarantine: null, freed };
}
