import { DarumaError } from "../core/errors/errors.js";

/** Of the tables of every database. */
export const SCHEMA_VERSION = 1;

/** Nothing is done to such a store. */
export function otherVersion(place: string, version: number): DarumaError {
  return new DarumaError(
    "STORE_VERSION",
    `${place}: the database has version ${version}, this Daruma reads version ${SCHEMA_VERSION} alone`,
    { hint: "Open it with the Daruma that made it, or name another database with --store." },
  );
}
