/** Facts about a store, which is not changed by the inspection. */
export interface StoreInspection {
  readonly kind: "sqlite" | "postgres" | "memory";
  /** The file, or the address without secrets. */
  readonly place: string;
  /** The version of its tables. Null if there are none, or they cannot be read. */
  readonly version: number | null;
  /** The version of the tables that this version of Daruma makes. */
  readonly newestVersion: number;
  /** What is wrong with it. Empty if no problem was found. */
  readonly problems: readonly string[];
  /** False if it is too large to be checked without an explicit request. */
  readonly checked: boolean;
  readonly bytes: number | null;
  /** Bytes that are written but not yet in the database file. */
  readonly walBytes: number | null;
  /** The version of the database server, if there is one. */
  readonly server: string | null;
}
