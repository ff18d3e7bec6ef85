import { DarumaError } from "../../core/errors/errors.js";
import type { PostgresAddress } from "./postgres-address.js";

/** Raised by `commit_appends`; its detail says why. */
export const REFUSED_STATE = "DR001";
/** The same where a run needs a place in its group and none is free. */
export const REFUSED_PLACE_STATE = "DR003";

/** What keeps two runs from having the same cause. */
export const CAUSE_INDEX = "run_by_cause";
const UNIQUE_VIOLATION = "23505";

export function isTakenCause(error: unknown): boolean {
  return violates(error, CAUSE_INDEX);
}

/** The unique index kept two rows apart. */
export function violates(error: unknown, index: string): boolean {
  return (
    codeOf(error) === UNIQUE_VIOLATION &&
    error instanceof Error &&
    "constraint_name" in error &&
    error.constraint_name === index
  );
}

/** What a function of ours says of its refusal. */
export function detailOf<Detail>(error: unknown): Detail {
  return JSON.parse(error instanceof Error && "detail" in error ? String(error.detail) : "") as Detail;
}

/** The server ends or starts, has no room for another connection, or the connection broke: class 08. */
const SERVER_AWAY = /^(08...|57P0[1-5]|53300)$/;
/** Rolled back only because somebody else was faster. */
const ROLLED_BACK = /^(40001|40P01)$/;
/** A write outside of a transaction, where the connection takes none; the end of a transaction that is not there. */
const OUTSIDE_OF_TRANSACTION = /^(25006|25P01)$/;
const CONNECTION_CODES: ReadonlySet<string> = new Set([
  ...["CONNECTION_CLOSED", "CONNECTION_DESTROYED", "CONNECTION_ENDED", "CONNECT_TIMEOUT"],
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["EAI_AGAIN", "ENOENT", "ANSWER_OVERDUE"],
]);

/** Nothing came back: the connection may be dead though nobody said so. */
export class AnswerOverdue extends Error {
  readonly code = "ANSWER_OVERDUE";

  constructor(afterMs: number) {
    super(`no answer within ${Math.ceil(afterMs / 1000)} s`);
  }
}

/** The connection of a transaction was replaced by another within it. */
export class TransactionLost extends Error {
  readonly code = "CONNECTION_CLOSED";
}

const HINTS: { readonly [code: string]: string } = {
  "28P01": "Check user and password of the PostgreSQL URL.",
  "28000": "Check user and password of the PostgreSQL URL, and the server's pg_hba.conf.",
  "3D000": "Create the database, or correct its name in the URL.",
  "42501": "Give the user the right to create a schema in the database, or make the schema for it.",
  "53100": "The server's disk is full: make room.",
  "25006": "This server takes no writes: connect to the primary.",
};

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** What was asked may or may not have been done. */
export function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error);
  return CONNECTION_CODES.has(code) || SERVER_AWAY.test(code);
}

/** Worth another try after a moment. */
export function isPassing(error: unknown): boolean {
  return isConnectionLoss(error) || ROLLED_BACK.test(codeOf(error));
}

/** Somebody else was faster, so that nothing was done: a row that is there now, or one that was read before it was changed. */
export function isOvertaken(error: unknown): boolean {
  const code = codeOf(error);
  return ROLLED_BACK.test(code) || code === UNIQUE_VIOLATION;
}

export function isOutsideOfTransaction(error: unknown): boolean {
  return OUTSIDE_OF_TRANSACTION.test(codeOf(error));
}

/** What went wrong, with the place, as an error a user can act on; never with the password. */
export function toStoreError(error: unknown, address: PostgresAddress): DarumaError {
  if (error instanceof DarumaError) return error;
  const detail = address.hideSecrets(describe(error));
  if (isConnectionLoss(error)) {
    return new DarumaError("STORE_FAILED", `${address.label} cannot be reached: ${detail}`, {
      hint: "Check that PostgreSQL runs and the address is right; nothing recorded is lost.",
    });
  }
  const hint = HINTS[codeOf(error)];
  return new DarumaError("STORE_FAILED", `${address.label}: ${detail}`, hint === undefined ? {} : { hint });
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // One error for each address of a host name: its own message is empty.
  if (error instanceof AggregateError) return error.errors.map(describe).join(", ");
  return error.message;
}
