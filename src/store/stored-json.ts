import { DarumaError } from "../core/errors/errors.js";

/** Parses JSON that the store has written. `place` names the table and the row for the error message. */
export function parseStoredJson(text: string, place: () => string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DarumaError("STORE_DAMAGED", `the database is damaged: ${place()} is not valid JSON`);
  }
}
