import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import { messageOf } from "../../core/text/message-of.js";

/** Primary result codes: the lower byte of SQLite's extended ones. */
export const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
export const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

const EXPLANATIONS: { readonly [code: number]: string } = {
  [SQLITE_BUSY]: "another process kept the database locked for too long",
  [SQLITE_LOCKED]: "the database is locked",
  [SQLITE_READONLY]: "the database cannot be written",
  [SQLITE_IOERR]: "the disk failed to read or write",
  [SQLITE_CORRUPT]: "the database is damaged",
  [SQLITE_FULL]: "the disk is full",
  [SQLITE_CANTOPEN]: "the database cannot be opened",
  [SQLITE_NOTADB]: "the file is not a database, or its beginning is damaged",
};

const DAMAGE: readonly (number | null)[] = [SQLITE_CORRUPT, SQLITE_NOTADB];

export function primaryCode(error: unknown): number | null {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return null;
  return typeof error.errcode === "number" ? error.errcode & 0xff : null;
}

/** Converts an error into one that a user can act on, with the file's name. */
export function toStoreError(error: unknown, file: string): DarumaError {
  if (error instanceof DarumaError) return error;
  const detail = messageOf(error);
  const code = primaryCode(error);
  const explanation = code === null ? undefined : EXPLANATIONS[code];
  const what = explanation === undefined ? detail : `${explanation} (SQLite: ${detail})`;
  const told: ErrorCode = DAMAGE.includes(code) ? "STORE_DAMAGED" : "STORE_FAILED";
  return new DarumaError(told, `${file}: ${what}`, { cause: error });
}
