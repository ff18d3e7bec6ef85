import { DarumaError } from "../../core/errors/errors.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Outcome } from "../../core/model/outcome.js";
import { isDeeperThan, type Json, MAX_JSON_LEVELS } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { printedText } from "../process/output-capture.js";
import { readRetryAfter } from "../process/retry-after.js";
import { type Action, type Attempt, stoppedResult } from "./action.js";
import { describeUrl, errnoOf, fetchFollowing, type HttpRequest, readHttpRequest } from "./http-request.js";

/** How much of a body becomes the output. The log keeps all of it. */
export const MAX_CAPTURED_BODY_BYTES = 1_048_576;

/** One request. The body is streamed to the log; status, headers and body are the output. */
export function createHttpAction(): Action {
  return { type: "http", run: runHttp };
}

async function runHttp(attempt: Attempt): Promise<Outcome<Json>> {
  let request: HttpRequest | null = null;
  try {
    request = readHttpRequest(attempt.action);
    const response = await fetchFollowing(request, attempt.signal);
    const body = await readBody(response, attempt);
    if (!request.expects(response.status))
      return { kind: "failed", facts: unexpectedStatus(response, request, attempt) };
    return { kind: "succeeded", output: outputOf(response, body, attempt) };
  } catch (error) {
    if (attempt.signal.aborted) return stoppedResult(attempt);
    return { kind: "failed", facts: requestFailed(error, request) };
  }
}

interface CapturedBody {
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

async function readBody(response: Response, attempt: Attempt): Promise<CapturedBody> {
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  let isCut = false;
  for await (const chunk of response.body ?? []) {
    attempt.writeStdout(chunk);
    const part = chunk.subarray(0, MAX_CAPTURED_BODY_BYTES - keptBytes);
    if (part.length > 0) kept.push(part);
    keptBytes += part.length;
    isCut ||= part.length < chunk.length;
  }
  return { bytes: Buffer.concat(kept), isCut };
}

function outputOf(response: Response, { bytes, isCut }: CapturedBody, { hideSecrets }: Attempt): Json {
  const text = printedText(bytes, hideSecrets);
  const output = {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: isCut ? text : parseBody(text),
  };
  return isCut ? { ...output, body_truncated: true } : output;
}

/** JSON where it is JSON, whatever the content type says; else the text. */
function parseBody(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    // It becomes a part of the output, one level down.
    return isDeeperThan(value, MAX_JSON_LEVELS - 1) ? text : value;
  } catch {
    return text;
  }
}

function unexpectedStatus(response: Response, request: HttpRequest, attempt: Attempt): FailureFacts {
  const retryAfterMs = readRetryAfter(response.headers, attempt.startedAt);
  const status = `${response.status} ${response.statusText}`.trim();
  return {
    message: `${status} from ${request.method} ${describeUrl(request.url)}`,
    httpStatus: response.status,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  };
}

function requestFailed(error: unknown, request: HttpRequest | null): FailureFacts {
  if (error instanceof DarumaError) return { message: error.message, code: error.code };
  const cause = (error instanceof Error ? error.cause : undefined) as
    | { code?: string; message?: string }
    | undefined;
  const errno = errnoOf(cause?.code);
  const target = request ? `${request.method} ${describeUrl(request.url)}` : "the request";
  const reason = cause?.message || messageOf(error);
  // `fetch` fails without a code for what it refuses to send or cannot understand, such as a blocked port.
  if (errno === undefined) return { message: `${target}: ${reason}`, code: "REQUEST_INVALID" };
  return {
    message: `${target}: ${errno}${reason.includes(errno) ? "" : `, ${reason}`}`,
    errno: errno.startsWith("HPE_") ? "EPROTO" : errno,
  };
}
