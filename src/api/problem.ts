import { randomUUID } from "node:crypto";
import { adviceFor, DarumaError, ERROR_CATALOGUE, type ErrorCode } from "../core/errors/errors.js";
import { messageOf } from "../core/text/message-of.js";
import { type FieldError, InvalidInput } from "../operations/invalid-input.js";
import { READER_HEADER } from "./limits.js";

/** An error in the form of RFC 9457, with a code for programs. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly hint: string;
  /** The fields of the request that were refused. */
  readonly errors?: readonly FieldError[];
  /** The problems of a workflow file, with line and column. */
  readonly problems?: readonly unknown[];
  /** Identifies the entry in the server's log that has the details. */
  readonly reference?: string;
  /** Further details of the code, such as `results` of many decisions. */
  readonly [detail: string]: unknown;
}

/** Who reads the answer: a program, or a person whose command line asked the server. */
export type Reader = "program" | "command-line";

export function readerOf(headers: { readonly [name: string]: unknown }): Reader {
  return headers[READER_HEADER] === "command-line" ? "command-line" : "program";
}

export const PROBLEM_TYPE = "application/problem+json";

/** The status of all other codes: the request was understood but cannot be done. */
const REFUSED = 422;

/** The only table from codes to statuses. `..._NOT_FOUND` needs no entry. */
const STATUS_OF_CODE: { readonly [code in ErrorCode]?: number } = {
  MALFORMED_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  HOST_REFUSED: 403,
  ORIGIN_REFUSED: 403,
  METHOD_NOT_ALLOWED: 405,
  DRAFT_CONFLICT: 409,
  GROUP_BUSY: 409,
  RUN_OWNED: 409,
  WORKSPACE_BRANCH_EXISTS: 409,
  WORKSPACE_BUSY: 409,
  FILES_REMOVED: 410,
  BODY_TOO_LARGE: 413,
  MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  TOO_MANY_RUNS: 429,
  TOO_MANY_STREAMS: 429,
  // Not 404: the request is at fault, not its address.
  WORKSPACE_REPO_NOT_FOUND: 422,
  WORKSPACE_REF_NOT_FOUND: 422,
  INTERNAL: 500,
  STALLED: 500,
  PLATFORM: 500,
  CLUSTER_UNREACHABLE: 503,
  LEASE_LOST: 503,
  NO_RUNNER: 503,
  RUN_NOT_HERE: 503,
  SANDBOX_FAILED: 503,
  SERVER_STOPPING: 503,
  STORE_DAMAGED: 503,
  STORE_FAILED: 503,
  STORE_GONE: 503,
  STORE_READ_ONLY: 503,
  STORE_VERSION: 503,
  WORKFLOW_READER_BUSY: 503,
};

/**
 * Codes with a status above 500 that are no faults of the server. Their messages may be shown, and nobody needs to
 * investigate.
 */
const EXPECTED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "CLUSTER_UNREACHABLE",
  "NO_RUNNER",
  "RUN_NOT_HERE",
  "SERVER_STOPPING",
  "WORKFLOW_READER_BUSY",
]);

export function statusOfCode(code: ErrorCode): number {
  return STATUS_OF_CODE[code] ?? (code.endsWith("_NOT_FOUND") ? 404 : REFUSED);
}

/** The codes that an answer with this status may carry, for the document. */
export function codesOfStatus(status: number): ErrorCode[] {
  return (Object.keys(ERROR_CATALOGUE) as ErrorCode[]).filter((code) => statusOfCode(code) === status);
}

/**
 * Converts anything that was thrown into an answer. Internal details stay here; the answer has only their reference.
 */
export function problemOf(thrown: unknown, reader: Reader = "program"): Problem {
  const error = asDarumaError(thrown);
  const status = statusOfCode(error.code);
  const { means } = ERROR_CATALOGUE[error.code];
  const open = status < 500 || EXPECTED.has(error.code);
  const { typed, asked } = open ? { typed: error.hint, asked: error.asked } : adviceFor(error.code);
  return {
    ...(open ? error.details : {}),
    type: `urn:daruma:error:${error.code}`,
    title: means,
    status,
    detail: open ? error.message : means,
    code: error.code,
    hint: reader === "program" ? asked : typed,
    ...(error instanceof InvalidInput ? { errors: error.errors } : {}),
    ...(open && "problems" in error && Array.isArray(error.problems) ? { problems: error.problems } : {}),
    ...(open ? {} : { reference: randomUUID() }),
  };
}

function asDarumaError(thrown: unknown): DarumaError {
  if (thrown instanceof DarumaError) return thrown;
  const status = thrown instanceof Error && "statusCode" in thrown ? Number(thrown.statusCode) : 500;
  const message = messageOf(thrown);
  return new DarumaError(codeOfFrameworkStatus(status), message, { cause: thrown });
}

/** The code for requests that the web framework refuses by itself. */
function codeOfFrameworkStatus(status: number): ErrorCode {
  if (status === 404) return "ROUTE_NOT_FOUND";
  if (status === 413) return "BODY_TOO_LARGE";
  if (status === 415) return "MEDIA_TYPE";
  if (status === 429) return "RATE_LIMITED";
  if (status === 503) return "SERVER_STOPPING";
  return status >= 400 && status < 500 ? "MALFORMED_REQUEST" : "INTERNAL";
}
