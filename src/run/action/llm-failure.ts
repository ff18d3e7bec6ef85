import { DarumaError } from "../../core/errors/errors.js";
import type { FailureFacts } from "../../core/model/failure.js";
import { boundedWait, readRetryAfter } from "../process/retry-after.js";
import type { ModelCall } from "./llm-model.js";
import { errnoOf } from "./network-errno.js";

const MAX_CAUSES = 8;
/** How the libraries word a stream that stopped before it was over; it has no code of its own. */
const ENDED_EARLY = /stream ended without a finish/i;

/** What providers call their troubles once a stream has begun, by the status they would have answered before. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  invalid_request_error: 400,
  not_found_error: 404,
  request_too_large: 413,
  authentication_error: 401,
  permission_error: 403,
  insufficient_quota: 402,
};

/** The library's own refusals: the request was never sent, and never will be as it stands. */
const REFUSALS: ReadonlySet<string> = new Set([
  "AI_InvalidArgumentError",
  "AI_InvalidPromptError",
  "AI_LoadSettingError",
  "AI_NoSuchModelError",
  "AI_UnsupportedFunctionalityError",
  "AI_UnsupportedModelVersionError",
]);

/** The stream came to its end without a word that the answer had. */
export function brokenOff(call: ModelCall): FailureFacts {
  return {
    code: "NETWORK_ERROR",
    message: `${nameOf(call)}: the stream ended before the answer was complete`,
  };
}

/** What is known of a model call that failed: the provider's status and headers first, its words last. */
export function llmFailure(error: unknown, call: ModelCall | null, startedAt: number): FailureFacts {
  if (error instanceof DarumaError) return { code: error.code, message: error.message };
  const who = call === null ? "the model call" : nameOf(call);
  const said = wordsOf(error);
  const { name, statusCode, responseHeaders } = error as {
    name?: unknown;
    statusCode?: unknown;
    responseHeaders?: { readonly [header: string]: string };
  };
  const isRefused = typeof statusCode === "number" && statusCode >= 400;
  const status = isRefused ? statusCode : statusSaid(error);
  if (status !== null) {
    const retryAfterMs = waitAsked(responseHeaders ?? {}, startedAt);
    return {
      message: `${status} from ${who}: ${said}`,
      httpStatus: status,
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    };
  }
  if (typeof name === "string" && REFUSALS.has(name))
    return { code: "REQUEST_INVALID", message: `${who}: ${said}` };
  if (name === "AI_LoadAPIKeyError") return { code: "MISSING_SECRET", message: `${who}: ${said}` };
  if (call !== null && ENDED_EARLY.test(said)) return brokenOff(call);
  const errno = errnoIn(error);
  if (errno !== undefined) {
    const shown = said.includes(errno) ? said : `${errno}, ${said}`;
    return { message: `${who}: ${shown}`, errno: errno.startsWith("HPE_") ? "EPROTO" : errno };
  }
  return { code: "PROVIDER_ERROR", message: `${who}: ${said}` };
}

function nameOf({ provider, modelId }: ModelCall): string {
  return `${provider} ${modelId}`;
}

function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === "string" && message !== "" ? message : JSON.stringify(error);
}

/** The status of an error within the stream: its own, or one that its type stands for. */
function statusSaid(error: unknown): number | null {
  if (error === null || typeof error !== "object" || error instanceof Error) return null;
  const said = error as { readonly [key: string]: unknown };
  const inner = said.error !== null && typeof said.error === "object" ? statusSaid(said.error) : null;
  if (inner !== null) return inner;
  for (const value of [said.status, said.code, said.type]) {
    const status = typeof value === "string" ? (STATUS_OF_TYPE[value] ?? Number(value)) : value;
    if (typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599)
      return status;
  }
  return null;
}

function waitAsked(headers: { readonly [header: string]: string }, startedAt: number): number | null {
  const inMs = Number(headers["retry-after-ms"] || Number.NaN);
  if (inMs >= 0) return boundedWait(Math.ceil(inMs));
  return readRetryAfter(new Headers(headers), startedAt);
}

/** Libraries wrap what the network said, sometimes twice. */
function errnoIn(error: unknown): string | undefined {
  let cause = error as { code?: unknown; cause?: unknown } | null | undefined;
  for (let depth = 0; depth < MAX_CAUSES && cause !== null && typeof cause === "object"; depth++) {
    if (typeof cause.code === "string") return errnoOf(cause.code);
    cause = cause.cause as typeof cause;
  }
  return undefined;
}
