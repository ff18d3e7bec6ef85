import {
  type BookEntry,
  type BookKey,
  type BookRow,
  type Triage,
  type TriageState,
  triageState,
} from "../core/book/book.js";

/** A filter for entries, and for rows that are not rolled up yet. */
export interface BookFilter {
  readonly workflow?: string;
  readonly step?: string;
  readonly class?: string;
  /** The beginning of a signature, with its version. */
  readonly signature?: string;
  /** States as of `now`. */
  readonly states?: readonly TriageState[];
  readonly now: number;
  /** Last seen at this time or later. */
  readonly since?: number;
  /** First seen at this time or later. */
  readonly newSince?: number;
}

/** A position in the list: the next page begins after this entry. */
export type BookPlace = BookKey & Pick<BookEntry, "last_seen">;

export interface BookPage extends BookFilter {
  readonly after?: BookPlace;
  readonly limit: number;
}

export interface RowFilter {
  readonly signature?: string;
  readonly workflow?: string;
  readonly step?: string;
  readonly since?: number;
  /** Only the ends of jobs that passed by retries alone. */
  readonly flakes?: true;
  /** Only failures that occurred. */
  readonly met?: true;
  readonly limit?: number;
}

/** The result of one round of the roll-up, which is written if its lease is still held. */
export interface RollUp {
  readonly fence: number;
  /** The new entries, without what people have said about them. */
  readonly entries: readonly BookEntry[];
  /** The rows that these entries now contain. */
  readonly rows: readonly Pick<BookRow, "run_id" | "n">[];
}

/** The number of a step's jobs that have completed or failed. */
export interface EndedJobs {
  readonly workflow: string;
  readonly step: string;
  readonly jobs: number;
}

/** The failure book: the failures of all workflows. */
export interface BookStore {
  /** Lists entries by last seen and key, newest first. */
  listEntries(page: BookPage): Promise<BookEntry[]>;
  readEntries(keys: readonly BookKey[]): Promise<BookEntry[]>;
  /** Lists the oldest rows that no entry contains yet, run by run, in the order of each run. */
  listUnrolled(after: Pick<BookRow, "run_id" | "n"> | null, limit: number): Promise<BookRow[]>;
  /** Lists rows of existing runs, newest first, whether an entry contains them or not. */
  listBookRows(filter: RowFilter): Promise<BookRow[]>;
  /** Writes one round in a transaction. Returns false, and writes nothing, if somebody else has the lease. */
  rollUp(given: RollUp): Promise<boolean>;
  /**
   * Records what people say about a failure, unless somebody else has done so since: the entry must have the revision
   * that was read, and gets the next one. For a failure that is only in rows so far, makes the entry from `entry`, with
   * zero counts.
   */
  writeTriage(entry: BookEntry, triage: Triage): Promise<boolean>;
  /** Counts ended jobs of runs created since a time, without imported ones. */
  countEndedJobs(filter: {
    readonly workflow?: string;
    readonly since: number;
    readonly until: number;
  }): Promise<EndedJobs[]>;
}

/** The entry of a failure that is only in rows so far. They are counted when they are rolled up. */
export function uncounted(entry: BookEntry): BookEntry {
  return { ...entry, occurrences: 0, runs: 0, rescues: {}, begun_at: 0 };
}

/** The rule of `triageState` as SQL, built only from integers and fixed words. Null for every state. */
export function stateConditions({ states, now }: Pick<BookFilter, "states" | "now">): string | null {
  if (states === undefined) return null;
  const at = Math.trunc(now);
  const of: { readonly [state in TriageState]: string } = {
    new: "triage = 'new'",
    known: `triage = 'known' OR (triage = 'muted' AND coalesce(muted_until, 0) <= ${at})`,
    muted: `triage = 'muted' AND coalesce(muted_until, 0) > ${at}`,
    resolved: "triage = 'resolved' AND begun_at <= coalesce(triaged_at, 0)",
    regressed: "triage = 'resolved' AND begun_at > coalesce(triaged_at, 0)",
  };
  return states.length === 0 ? "1 = 0" : states.map((state) => `(${of[state]})`).join(" OR ");
}

/** Whether an entry matches a filter. */
export function isAskedFor(entry: BookEntry, filter: BookFilter): boolean {
  const { workflow, step, class: failureClass, signature, states, now, since, newSince } = filter;
  return (
    entry.occurrences > 0 &&
    (workflow === undefined || entry.workflow === workflow) &&
    (step === undefined || entry.step === step) &&
    (failureClass === undefined || entry.class === failureClass) &&
    (signature === undefined || entry.signature.startsWith(signature)) &&
    (states === undefined || states.includes(triageState(entry, now))) &&
    (since === undefined || entry.last_seen >= since) &&
    (newSince === undefined || entry.first_seen >= newSince)
  );
}

/** Sorts oldest first. Names are compared by their bytes, as in databases. */
export function comparePlaces(a: BookPlace, b: BookPlace): number {
  if (a.last_seen !== b.last_seen) return a.last_seen - b.last_seen;
  for (const part of ["workflow", "step", "signature"] as const)
    if (a[part] !== b[part]) return Buffer.compare(Buffer.from(a[part]), Buffer.from(b[part]));
  return 0;
}
