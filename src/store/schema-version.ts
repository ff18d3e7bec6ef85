import { DarumaError } from "../core/errors/errors.js";

/** The version of every database's tables. */
export const SCHEMA_VERSION = 1;

/** The error for a store of another version. Nothing is done to such a store. */
export function otherVersion(place: string, version: number): DarumaError {
  return new DarumaError(
    "STORE_VERSION",
    `${place}: the database has version ${version}, this Daruma reads version ${SCHEMA_VERSION} alone`,
    { hint: "Open it with the Daruma that made it, or name another database with --store." },
  );
}
