import {
  type BookEntry,
  type BookKey,
  type Triage,
  type TriageState,
  triageState,
} from "../core/book/book-entry.js";
import type { BookRow } from "../core/book/book-row.js";

/** Of entries, and of what is not rolled up yet. */
export interface BookFilter {
  readonly workflow?: string;
  readonly step?: string;
  readonly class?: string;
  /** How a signature begins, with its version. */
  readonly signature?: string;
  /** As of `now`. */
  readonly states?: readonly TriageState[];
  readonly now: number;
  /** Met at or after this. */
  readonly since?: number;
  /** Met for the first time at or after this. */
  readonly newSince?: number;
}

/** Where a page goes on: after this entry. */
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
  /** Only how jobs ended that passed by retries alone. */
  readonly flakes?: true;
  /** Only failures that were met. */
  readonly met?: true;
  readonly limit?: number;
}

/** What the duty writes at once, if it still has its lease. */
export interface RollUp {
  readonly fence: number;
  /** As they are from now on, but for what people have said. */
  readonly entries: readonly BookEntry[];
  /** The rows that are in them now. */
  readonly rows: readonly Pick<BookRow, "run_id" | "n">[];
}

/** How many jobs of a step have completed or failed. */
export interface EndedJobs {
  readonly workflow: string;
  readonly step: string;
  readonly jobs: number;
}

/** The failure book: what runs of all workflows have failed with. */
export interface BookStore {
  /** What has been rolled up, by last seen and key, newest first. */
  listEntries(page: BookPage): Promise<BookEntry[]>;
  readEntries(keys: readonly BookKey[]): Promise<BookEntry[]>;
  /** The oldest rows that no entry contains yet, run by run, in the order of each run. */
  listUnrolled(after: Pick<BookRow, "run_id" | "n"> | null, limit: number): Promise<BookRow[]>;
  /** Rows of runs that are still there, newest first, whether an entry contains them or not. */
  listBookRows(filter: RowFilter): Promise<BookRow[]>;
  /** In one transaction. False: the lease of the duty is somebody else's, and nothing is written. */
  rollUp(given: RollUp): Promise<boolean>;
  /**
   * What people say of a failure, if nobody else has since: the entry has the revision that was read, and then the next
   * one. An entry that is only in rows so far is made from `entry`, with nothing counted.
   */
  writeTriage(entry: BookEntry, triage: Triage): Promise<boolean>;
  /** Of runs that were created since, imported ones left out. */
  countEndedJobs(filter: {
    readonly workflow?: string;
    readonly since: number;
    readonly until: number;
  }): Promise<EndedJobs[]>;
}

/** The entry of a failure that is only in rows so far: they are counted when they are rolled up. */
export function uncounted(entry: BookEntry): BookEntry {
  return { ...entry, occurrences: 0, runs: 0, rescues: {}, begun_at: 0 };
}

/** The rule of `triageState` as SQL, of whole numbers and fixed words alone; null: every state. */
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

/** Whether an entry is one of those that a filter names. */
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

/** Oldest first; names by their bytes, as databases do it. */
export function comparePlaces(a: BookPlace, b: BookPlace): number {
  if (a.last_seen !== b.last_seen) return a.last_seen - b.last_seen;
  for (const part of ["workflow", "step", "signature"] as const)
    if (a[part] !== b[part]) return Buffer.compare(Buffer.from(a[part]), Buffer.from(b[part]));
  return 0;
}
