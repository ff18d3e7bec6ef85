/** What a store says of itself, without being changed by being asked. */
export interface StoreInspection {
  readonly kind: "sqlite" | "postgres" | "memory";
  /** The file, or the address without what is secret in it. */
  readonly place: string;
  /** Of its tables; null: there are none, or they cannot be read. */
  readonly version: number | null;
  /** Of the tables that this version of Daruma makes. */
  readonly newestVersion: number;
  /** What is wrong with it; empty: nothing that was found. */
  readonly problems: readonly string[];
  /** False: it is too large to be looked through without being asked to. */
  readonly checked: boolean;
  readonly bytes: number | null;
  /** What was written and is not yet in the database file. */
  readonly walBytes: number | null;
  /** The database server, where there is one. */
  readonly server: string | null;
}
