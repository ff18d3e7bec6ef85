import { DarumaError } from "../core/errors.js";
import type { HttpRequest } from "./http-request.js";

export const MAX_REDIRECTS = 10;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that open doors are for the origin they were written for. */
const CREDENTIAL_HEADER = /auth|cookie|token|secret|key/i;
const BODY_HEADERS = [
  "content-type",
  "content-length",
  "content-encoding",
  "content-language",
  "content-location",
];

/** The response to a request, through at most MAX_REDIRECTS; one that is itself expected is not followed. */
export async function fetchFollowing(first: HttpRequest, signal: AbortSignal): Promise<Response> {
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
    throw new DarumaError("REQUEST_INVALID", "redirected to what is not a URL");
  const url = new URL(location, request.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new DarumaError("REQUEST_INVALID", `redirected to ${url.protocol}, which is not followed`);
  }
  url.username = "";
  url.password = "";
  const headers = new Headers(request.headers);
  if (url.origin !== request.url.origin) {
    for (const name of [...headers.keys()])
      if (CREDENTIAL_HEADER.test(name) || name === "host") headers.delete(name);
  }
  const becomesGet = status === 303 ? request.method !== "HEAD" : status < 303 && request.method === "POST";
  if (!becomesGet) return { ...request, url, headers };
  for (const name of BODY_HEADERS) headers.delete(name);
  return { ...request, url, headers, method: "GET", body: null };
}
