import { type Fields, freeText, id, type OfFields, text } from "../core/text/shape.js";
import type { BesideNotices } from "./outbox-rows.js";

/** Something that runs share and no log holds, such as a breaker: a name, and JSON that only its users understand. */
export const SHARED_ROW = {
  /** What it is of. */
  kind: text,
  name: text,
  /** One more with each change; 0: there is no row yet. */
  revision: id,
  data: freeText,
} as const satisfies Fields;
export type SharedRow = OfFields<typeof SHARED_ROW>;

/** What only one may have at a time, and who has it: a job that is in a campaign, say. */
export const CLAIM_ROW = { key: text, holder: text } as const satisfies Fields;

export interface SharedRead {
  /** By name. */
  readonly rows: readonly SharedRow[];
  /** What time it is on the clock that the store holds leases against: for all that several machines compare. */
  readonly at: number;
}

/** Rows beside the runs, changed by compare-and-set. */
export interface SharedStore {
  /** All of a kind, or those of these names that are there. */
  readShared(kind: string, names: readonly string[] | null, now: number): Promise<SharedRead>;
  /**
   * All of these in one transaction, if each still has the revision that is given; each then has the next one. False:
   * somebody was faster, and nothing is written. No two of one kind and name.
   */
  writeShared(rows: readonly SharedRow[], beside?: BesideNotices): Promise<boolean>;
  /** Those of these that still have the revision that is given go. */
  dropShared(rows: readonly Omit<SharedRow, "data">[]): Promise<void>;
}
