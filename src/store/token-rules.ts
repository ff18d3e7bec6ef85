import { DarumaError } from "../core/errors/errors.js";

/** Two tokens of one hash could not be told apart, so the second is a defect of the caller. */
export function tokenIsThere(): DarumaError {
  return new DarumaError("STORE_FAILED", "a token with this hash already exists");
}
