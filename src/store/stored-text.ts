import { DarumaError } from "../core/errors/errors.js";

/** Parses JSON that the store has written. `place` names the table and the row for the error message. */
export function parseStoredJson(text: string, place: () => string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DarumaError("STORE_DAMAGED", `the database is damaged: ${place()} is not valid JSON`);
  }
}

const REPLACEMENT = "\uFFFD";
/** In a unicode pattern, only an unpaired surrogate matches. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * Makes free text storable: SQLite's drivers cut text at a NUL when they read it, and UTF-8 has no lone surrogates.
 * JSON needs no such change, because it escapes both.
 */
export function toStorableText(text: string): string {
  return text.replaceAll("\0", REPLACEMENT).replace(LONE_SURROGATE, REPLACEMENT);
}
