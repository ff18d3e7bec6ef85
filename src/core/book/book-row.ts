import {
  type Fields,
  flag,
  freeText,
  id,
  list,
  nullable,
  number,
  type OfFields,
  text,
  time,
  word,
} from "../text/shape.js";

/**
 * What answered a failure: a rung of the ladder, or somebody's decision (`operator.retry`). A text rather than a list of
 * names: rows of another version may have others.
 */
export type BookAction = string;

/** A decision, or the end of the time for it, gave the job its end instead of making it work: no recovery, whatever else it is. */
export const DECIDED_ENDS: readonly BookAction[] = [
  ...["operator.skip", "operator.complete"],
  ...["expired.skip", "expired.complete"],
];

/** What is counted as having rescued a job; null: nothing. */
export function rescuerOf(action: BookAction | null): BookAction | null {
  return action === null || DECIDED_ENDS.includes(action) ? null : action;
}

/**
 * What a run tells the failure book, in the transaction of its events. The book is the sum of these rows, so they say only
 * what is to be added: a failure that was met, or how a job that had met one ended.
 */
export const BOOK_ROW = {
  run_id: id,
  /** Counts the rows of a run from 1. The same log always gives the same rows, so writing one again changes nothing. */
  n: id,
  at: time,
  kind: word(["met", "ended"]),
  workflow: text,
  /** As the file writes it. */
  step: text,
  signature: text,
  job_id: id,
  attempt: id,
  /** Met: the rung that acted. Ended: what rescued the job, or the finish by hand; null: nothing did. */
  action: nullable(word<BookAction>()),
  /** Ended: what else acted on this failure, each once. */
  tried: list(word<BookAction>()),
  /** Met: the run had not met it before in this step. */
  first_in_run: flag,
  /** Ended, once a job that passed by retries alone: how long its failures and the waits between them took. */
  flake_ms: nullable(number),
  code: freeText,
  class: text,
  /** One line of it, for people; empty where the job ended. */
  sample: freeText,
  /** When the run was started, or an operator last made it run again. */
  begun_at: time,
} as const satisfies Fields;
export type BookRow = OfFields<typeof BOOK_ROW>;

/** What a run remembers for the book. */
export interface BookState {
  rows: number;
  begunAt: number;
  /** `step signature` of all that it has met. */
  readonly met: Set<string>;
  /** By job: the failures since it last ended. */
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
  /** Actions in order. The last one answered the last occurrence. */
  readonly actions: readonly BookAction[];
}

export function newBookState(): BookState {
  return { rows: 0, begunAt: 0, met: new Set(), open: new Map(), unwritten: [] };
}
