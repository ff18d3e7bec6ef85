import { DarumaError } from "../../core/errors/errors.js";
import { type HttpRequest, plainHeaders } from "./http-request.js";

export const MAX_REDIRECTS = 10;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const BODY_HEADERS = [
  "content-type",
  "content-length",
  "content-encoding",
  "content-language",
  "content-location",
];

/** The response to a request, through at most MAX_REDIRECTS; one that is itself expected is not followed. */
export async function fetchFollowing(first: HttpRequest, signal: AbortSignal | null): Promise<Response> {
  let request = first;
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      redirect: "manual",
      signal,
    });
    const location = response.headers.get("location");
    if (!REDIRECTS.has(response.status) || location === null || first.expects(response.status))
      return response;
    await response.body?.cancel();
    if (redirects === MAX_REDIRECTS)
      throw new DarumaError("REQUEST_INVALID", `more than ${MAX_REDIRECTS} redirects`);
    request = redirected(request, response.status, location);
  }
}

function redirected(request: HttpRequest, status: number, location: string): HttpRequest {
  if (!URL.canParse(location, request.url.href))
    throw new DarumaError("REQUEST_INVALID", "redirected to something that is not a URL");
  const url = new URL(location, request.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new DarumaError("REQUEST_INVALID", `redirected to ${url.protocol}, which is not followed`);
  }
  url.username = "";
  url.password = "";
  const isElsewhere = url.origin !== request.url.origin && !request.redirectOrigins.has(url.origin);
  if (isElsewhere && request.staysAtOrigins) throw notFollowed(url.origin, "which is not followed");
  const becomesGet = status === 303 ? request.method !== "HEAD" : status < 303 && request.method === "POST";
  const next = { ...request, url, ...(becomesGet ? { method: "GET", body: null } : {}) };
  if (isElsewhere) return withoutOwnWords(next);
  const headers = new Headers(request.headers);
  if (url.origin !== request.url.origin) headers.delete("host");
  if (becomesGet) for (const name of BODY_HEADERS) headers.delete(name);
  return { ...next, headers };
}

/**
 * Headers and body are for the origin that the file names. No list of names tells which headers are credentials, so none
 * goes along; a body that would have to is not sent at all, rather than a request that means something else.
 */
function withoutOwnWords(request: HttpRequest): HttpRequest {
  const { origin } = request.url;
  if (request.body !== null) throw notFollowed(origin, "to which the body of the request is not sent");
  return { ...request, headers: plainHeaders() };
}

function notFollowed(origin: string, why: string): DarumaError {
  return new DarumaError(
    "REQUEST_INVALID",
    `redirected to ${origin}, ${why}; \`redirect_origins: [${origin}]\` allows it`,
  );
}
