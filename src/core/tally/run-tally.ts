/** What a list tells of a run without reading its log. It stands in the run's row. */
export interface RunTally {
  /** Counts by status. Zero counts are left out. */
  readonly jobs: { readonly [status: string]: number };
  /** The number of failed jobs whose failure was handled. */
  readonly handled: number;
  /** Set if it had a failure, whatever answered it. Missing if not, and in older rows. */
  readonly fell?: true;
  /** The jobs to which a decision about their hold put an end: how many, and the first of them. Missing where there is none. */
  readonly decided?: { readonly jobs: number; readonly first: DecidedPlace };
  /** Set if not all was mended in a child run of it. */
  readonly below?: true;
  /** The first of its recoveries. */
  readonly recovered: readonly Recovered[];
  /** The failure that ended the run. If there is none, the first job that waits for somebody, or the first handled failure. */
  readonly concern: Concern | null;
  /** For a run that is ending: its phase, and whether it has undone anything. */
  readonly ending?: { readonly phase: "undo" | "finally" | null; readonly undone: boolean };
}

export interface DecidedPlace {
  readonly step: string;
  readonly scope: string;
  readonly how: "skip" | "complete";
  /** Null if nobody said so, or nobody decided in time. */
  readonly by: string | null;
  /** Nobody decided in time. */
  readonly expired: boolean;
}

/** One rung that brought a step back. */
export interface Recovered {
  readonly step: string;
  readonly scope: string;
  readonly rung: string;
  readonly to: string;
  /** How often it acted, over all branches in which it did. */
  readonly times: number;
}

export interface Concern {
  readonly kind: "failed" | "held" | "dead_letter" | "question" | "handled";
  readonly step: string;
  readonly scope: string;
  /** The code of the failure; null for a question. */
  readonly code: string | null;
  /** One line that says what broke or what is asked. */
  readonly message: string;
  /** Where a transition took the handled failure. */
  readonly to: string | null;
}

/** What a run remembers to count its recoveries. */
export interface RecoveryCount {
  total: number;
  first: readonly Recovered[];
  /** By kind: the positions of its recoveries among all. */
  readonly byKind: Map<string, readonly number[]>;
  /** What acted last on a job, and how often each kind began on it. */
  readonly byJob: Map<number, CountedJob>;
}

export interface CountedJob {
  readonly rung: string;
  /** Null if there was no attempt. */
  readonly visit: number | null;
  readonly place: number;
  readonly times: { readonly [kind: string]: number };
}

export function newRecoveryCount(): RecoveryCount {
  return { total: 0, first: [], byKind: new Map(), byJob: new Map() };
}

const RECOVERS: ReadonlySet<string> = new Set([
  "restart",
  "park",
  "rule",
  "retry",
  "reset",
  "remediate",
  "goto",
  "edge",
  "requeue",
]);

/** Once more of the same: one after the other in one visit they are one recovery. */
const REPEATS: ReadonlySet<string> = new Set(["retry", "park"]);

/** What somebody's decision or a success led to is no recovery. */
export function isRecovering(rung: string): boolean {
  return RECOVERS.has(rung);
}

/** Whether a rung that acts again in the same visit of a job does more of the same recovery. */
export function goesOn(rung: string): boolean {
  return REPEATS.has(rung);
}

/** Branches of a fan-out in which the same rung acts are one recovery; the second time in a branch is the second for all. */
export function kindOfRecovery(route: {
  readonly step: string;
  readonly rung: string;
  readonly to: string;
  readonly scope: string;
}): string {
  return JSON.stringify([route.step, route.rung, route.to, route.scope === "root"]);
}
