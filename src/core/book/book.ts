import {
  type Fields,
  flag,
  freeText,
  id,
  list,
  nullable,
  number,
  type OfFields,
  object,
  record,
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

/** What people have said of a failure. It never changes what the ladder does. */
const TRIAGE = {
  triage: word(["new", "known", "muted", "resolved"]),
  note: nullable(freeText),
  link: nullable(freeText),
  owner: nullable(freeText),
  muted_until: nullable(time),
  triaged_at: nullable(time),
  triaged_by: nullable(freeText),
} as const satisfies Fields;
export type Triage = OfFields<typeof TRIAGE>;

export const TRIAGE_STATES = ["new", "known", "muted", "resolved", "regressed"] as const;
export type TriageState = (typeof TRIAGE_STATES)[number];

interface Rescue {
  readonly rescued: number;
  readonly tried: number;
}

/** The sum of all rows of one failure of one step. */
export const BOOK_ENTRY = {
  workflow: text,
  /** As the file writes it. */
  step: text,
  signature: text,
  code: freeText,
  class: text,
  sample: freeText,
  first_seen: time,
  last_seen: time,
  occurrences: id,
  runs: id,
  /** By what acted: how many jobs it rescued, and how many it tried to rescue. */
  rescues: record(object({ rescued: id, tried: id })),
  last_run: id,
  last_job: id,
  /** The newest `begun_at` of a run that met it. */
  begun_at: time,
  ...TRIAGE,
  /** One more with each word of people; 0: none yet. */
  revision: id,
} as const satisfies Fields;
export type BookEntry = OfFields<typeof BOOK_ENTRY>;
export type BookKey = Pick<BookEntry, "workflow" | "step" | "signature">;

/** What people have said, which no roll-up touches. */
export const TRIAGE_FIELDS = [...(Object.keys(TRIAGE) as (keyof Triage)[]), "revision"] as const;

export const NOT_TRIAGED: Triage = {
  triage: "new",
  note: null,
  link: null,
  owner: null,
  muted_until: null,
  triaged_at: null,
  triaged_by: null,
};

export function bookKey({ workflow, step, signature }: BookKey): string {
  return JSON.stringify([workflow, step, signature]);
}

/** An entry with one more row; null: the row is the first. */
function addToEntry(entry: BookEntry | null, row: BookRow): BookEntry {
  const before = entry ?? newEntry(row);
  if (row.kind === "ended") return { ...before, rescues: withEnd(before.rescues, row) };
  const isNewest = row.at >= before.last_seen || before.occurrences === 0;
  return {
    ...before,
    ...(isNewest
      ? { code: row.code, class: row.class, sample: row.sample, last_run: row.run_id, last_job: row.job_id }
      : {}),
    first_seen: before.occurrences === 0 ? row.at : Math.min(before.first_seen, row.at),
    last_seen: before.occurrences === 0 ? row.at : Math.max(before.last_seen, row.at),
    occurrences: before.occurrences + 1,
    runs: before.runs + (row.first_in_run ? 1 : 0),
    begun_at: Math.max(before.begun_at, row.begun_at),
  };
}

function newEntry(row: BookRow): BookEntry {
  return {
    workflow: row.workflow,
    step: row.step,
    signature: row.signature,
    code: row.code,
    class: row.class,
    sample: row.sample,
    first_seen: row.at,
    last_seen: row.at,
    occurrences: 0,
    runs: 0,
    rescues: {},
    last_run: row.run_id,
    last_job: row.job_id,
    begun_at: row.begun_at,
    ...NOT_TRIAGED,
    revision: 0,
  };
}

function withEnd(before: BookEntry["rescues"], { action, tried }: BookRow): BookEntry["rescues"] {
  const rescues: { [action: BookAction]: Rescue } = { ...before };
  const add = (acted: BookAction, kind: keyof Rescue): void => {
    const counted = rescues[acted] ?? { rescued: 0, tried: 0 };
    rescues[acted] = { ...counted, [kind]: counted[kind] + 1 };
  };
  const rescuer = rescuerOf(action);
  if (rescuer !== null) add(rescuer, "rescued");
  for (const each of tried) add(each, "tried");
  return rescues;
}

/** Rows in the order of their runs, added to what was there; only the entries that they change. */
export function sumRows(
  entries: ReadonlyMap<string, BookEntry>,
  rows: Iterable<BookRow>,
): Map<string, BookEntry> {
  const changed = new Map<string, BookEntry>();
  for (const row of rows) {
    const key = bookKey(row);
    changed.set(key, addToEntry(changed.get(key) ?? entries.get(key) ?? null, row));
  }
  return changed;
}

/** A mute that is over leaves a known failure; one that is resolved has come back if a later run met it. */
export function triageState(entry: BookEntry, now: number): TriageState {
  if (entry.triage === "muted") return (entry.muted_until ?? 0) > now ? "muted" : "known";
  if (entry.triage === "resolved" && entry.begun_at > (entry.triaged_at ?? 0)) return "regressed";
  return entry.triage;
}
