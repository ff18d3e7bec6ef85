import { DarumaError } from "../../core/errors/errors.js";
import type { PostgresAddress } from "./postgres-address.js";

/** Raised by `commit_appends`, with the reason in its detail. */
export const REFUSED_STATE = "DR001";
/** Raised if a run needs a place in its group and none is free. */
export const REFUSED_PLACE_STATE = "DR003";

/** The index that keeps two runs from having the same cause. */
export const CAUSE_INDEX = "run_by_cause";
const UNIQUE_VIOLATION = "23505";

export function isTakenCause(error: unknown): boolean {
  return violates(error, CAUSE_INDEX);
}

/** Whether the unique index refused a row. */
export function violates(error: unknown, index: string): boolean {
  return (
    codeOf(error) === UNIQUE_VIOLATION &&
    error instanceof Error &&
    "constraint_name" in error &&
    error.constraint_name === index
  );
}

/** The detail of a refusal by one of our functions. */
export function detailOf<Detail>(error: unknown): Detail {
  return JSON.parse(error instanceof Error && "detail" in error ? String(error.detail) : "") as Detail;
}

/** The server is starting or stopping, has no free connection, or the connection broke (class 08). */
const SERVER_AWAY = /^(08...|57P0[1-5]|53300)$/;
/** Rolled back only because another transaction was faster. */
const ROLLED_BACK = /^(40001|40P01)$/;
/** A write outside of a transaction on a connection that allows none, or the end of a missing transaction. */
const OUTSIDE_OF_TRANSACTION = /^(25006|25P01)$/;
const CONNECTION_CODES: ReadonlySet<string> = new Set([
  ...["CONNECTION_CLOSED", "CONNECTION_DESTROYED", "CONNECTION_ENDED", "CONNECT_TIMEOUT"],
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["EAI_AGAIN", "ENOENT", "ANSWER_OVERDUE"],
]);

/** No answer came, so the connection may be dead without an error. */
export class AnswerOverdue extends Error {
  readonly code = "ANSWER_OVERDUE";

  constructor(afterMs: number) {
    super(`no answer within ${Math.ceil(afterMs / 1000)} s`);
  }
}

/** The connection of a transaction was replaced while it ran. */
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

/** Whether the connection was lost, so that it is unknown if the request was executed. */
export function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error);
  return CONNECTION_CODES.has(code) || SERVER_AWAY.test(code);
}

/** Whether another try after a moment makes sense. */
export function isPassing(error: unknown): boolean {
  return isConnectionLoss(error) || ROLLED_BACK.test(codeOf(error));
}

/**
 * Whether somebody else was faster, so that nothing was written: a row exists by now, or was changed after it was read.
 */
export function isOvertaken(error: unknown): boolean {
  const code = codeOf(error);
  return ROLLED_BACK.test(code) || code === UNIQUE_VIOLATION;
}

export function isOutsideOfTransaction(error: unknown): boolean {
  return OUTSIDE_OF_TRANSACTION.test(codeOf(error));
}

/** Converts an error into one that a user can act on. It names the place, but never the password. */
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
  // One error per address of a host name. Its own message is empty.
  if (error instanceof AggregateError) return error.errors.map(describe).join(", ");
  return error.message;
}
