/**
 * What answered a failure: a rung of the ladder, or somebody's decision (`operator.retry`). A text rather than a list of
 * names: rows of another version may have others.
 */
export type BookAction = string;

/**
 * What a run tells the failure book, in the transaction of its events. The book is the sum of these rows, so they say only
 * what is to be added: a failure that was met, or how a job that had met one ended.
 */
export interface BookRow {
  readonly run_id: number;
  /** Counts the rows of a run from 1. The same log always gives the same rows, so writing one again changes nothing. */
  readonly n: number;
  readonly at: number;
  readonly kind: "met" | "ended";
  readonly workflow: string;
  readonly step: string;
  readonly signature: string;
  readonly job_id: number;
  readonly attempt: number;
  /** Met: the rung that acted. Ended: what rescued the job; null: nothing did. */
  readonly action: BookAction | null;
  /** Ended: what else acted on this failure, each once. */
  readonly tried: readonly BookAction[];
  /** Met: the run had not met it before in this step. */
  readonly first_in_run: boolean;
  /** Ended, once a job that passed by retries alone: how long its failures and the waits between them took. */
  readonly flake_ms: number | null;
  readonly code: string;
  readonly class: string;
  /** One line of it, for people; empty where the job ended. */
  readonly sample: string;
  /** When the run was started, or an operator last made it run again. */
  readonly begun_at: number;
}

/** What a run remembers for the book. */
export interface BookState {
  rows: number;
  begunAt: number;
  /** `step signature` of all that it has met. */
  readonly met: Set<string>;
  /** By job: what it has met since it last ended. */
  readonly open: Map<number, OpenFailures>;
  /** Rows that nobody has written yet. Not part of the fold. */
  unwritten: BookRow[];
}

export interface OpenFailures {
  /** When the first attempt began that failed. */
  readonly since: number;
  /** Its last failure is not in the book yet: no rung has acted. */
  uncounted: boolean;
  readonly met: Map<string, MetFailure>;
}

export interface MetFailure {
  readonly code: string;
  readonly class: string;
  readonly attempt: number;
  /** In order; the last one answered its last occurrence. */
  readonly actions: readonly BookAction[];
}

export function newBookState(): BookState {
  return { rows: 0, begunAt: 0, met: new Set(), open: new Map(), unwritten: [] };
}
