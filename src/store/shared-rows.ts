import { type Fields, freeText, id, type OfFields, text } from "../core/text/shape.js";
import type { BesideNotices } from "./outbox-rows.js";

/** State that runs share and no log contains, such as a breaker: a name, and JSON that only its users interpret. */
export const SHARED_ROW = {
  /** The kind of thing it describes. */
  kind: text,
  name: text,
  /** Increases with each change. 0 if there is no row yet. */
  revision: id,
  data: freeText,
} as const satisfies Fields;
export type SharedRow = OfFields<typeof SHARED_ROW>;

/** Something that only one may have at a time, such as a job that is in a campaign, and its holder. */
export const CLAIM_ROW = { key: text, holder: text } as const satisfies Fields;

export interface SharedRead {
  /** Sorted by name. */
  readonly rows: readonly SharedRow[];
  /** The present time on the clock that the store uses for leases, for everything that several machines compare. */
  readonly at: number;
}

/** Rows beside the runs, which are changed by compare-and-set. */
export interface SharedStore {
  /** Reads all rows of a kind, or those with these names. */
  readShared(kind: string, names: readonly string[] | null, now: number): Promise<SharedRead>;
  /**
   * Writes these rows in one transaction if each still has the given revision; each then gets the next one. Returns
   * false, and writes nothing, if somebody was faster. No two rows may have the same kind and name.
   */
  writeShared(rows: readonly SharedRow[], beside?: BesideNotices): Promise<boolean>;
  /** Deletes those of these rows that still have the given revision. */
  dropShared(rows: readonly Omit<SharedRow, "data">[]): Promise<void>;
}
