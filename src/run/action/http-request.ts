import { DarumaError } from "../../core/errors/errors.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";

/** A request as it is sent, made from an `http` step's keys. */
export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
  readonly expects: (status: number) => boolean;
  /** Origins to which a redirect takes headers and body along, beside the one it comes from. */
  readonly redirectOrigins: ReadonlySet<string>;
  /** A redirect to any other origin fails the request, also one that would take nothing along. */
  readonly staysAtOrigins: boolean;
}

/** Throws REQUEST_INVALID: rendered templates can make of the keys what the loader could not foresee. */
export function readHttpRequest(action: ActionDefinition): HttpRequest {
  const url = readUrl(action.url);
  const method = (action.method ?? "GET").toString().toUpperCase();
  const headers = readHeaders(action.headers);
  const body = readBody(action.body, headers);
  if (body !== null && (method === "GET" || method === "HEAD"))
    throw invalid(`a ${method} request has no body; set method`);
  if (url.username || url.password) moveCredentials(url, headers);
  const expects = readExpectStatus(action.expect_status);
  const redirectOrigins = readRedirectOrigins(action);
  return { url, method, headers, body, expects, redirectOrigins, staysAtOrigins: false };
}

/** The allowed origins as they are in the file. They are no templates. */
export function readRedirectOrigins({ redirect_origins }: ActionDefinition): ReadonlySet<string> {
  const origins = (redirect_origins ?? []) as readonly string[];
  return new Set(origins.flatMap((text) => (URL.canParse(text) ? [new URL(text).origin] : [])));
}

/** What says nothing about who asks. */
function plainHeaders(): Headers {
  return new Headers({ accept: "*/*", "user-agent": "daruma" });
}

/** The address for people: without what may be secret. */
export function describeUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

function readUrl(text: Json | undefined): URL {
  if (typeof text !== "string" || !URL.canParse(text)) throw invalid("`url` is not an absolute URL");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw invalid(`\`url\` must be http or https, not ${url.protocol}`);
  return url;
}

function readHeaders(given: Json | undefined): Headers {
  const headers = plainHeaders();
  if (given === undefined || given === null) return headers;
  if (typeof given !== "object" || Array.isArray(given)) throw invalid("`headers` is not a map");
  for (const [name, value] of Object.entries(given)) {
    if (value === null || typeof value === "object") throw invalid(`header ${name} is not a text`);
    try {
      headers.set(name, String(value));
    } catch {
      // The cause is left out: it quotes the value, which may be a secret.
      throw invalid(`header ${name} has a name or value that HTTP does not allow`);
    }
  }
  return headers;
}

function readBody(body: Json | undefined, headers: Headers): string | null {
  if (body === undefined || body === null) return null;
  if (typeof body === "string") return body;
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  return JSON.stringify(body);
}

/** `fetch` refuses a URL with a user and password, though curl and browsers take it. */
function moveCredentials(url: URL, headers: Headers): void {
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  if (!headers.has("authorization"))
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  url.username = "";
  url.password = "";
}

/** A status, `2xx`, or a list of both. */
function readExpectStatus(expected: Json | undefined): (status: number) => boolean {
  const wanted =
    expected === undefined || expected === null ? ["2xx"] : Array.isArray(expected) ? expected : [expected];
  const patterns = wanted.map((item: Json) => {
    const text = String(item).toLowerCase();
    if (!/^[1-5](?:xx|\d\d)$/.test(text))
      throw invalid(`expect_status ${JSON.stringify(item)} is neither a status nor like 2xx`);
    return text;
  });
  return (status) => patterns.some((text) => text === String(status) || text === `${String(status)[0]}xx`);
}

function invalid(message: string): DarumaError {
  return new DarumaError("REQUEST_INVALID", message);
}

const MAX_REDIRECTS = 10;

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

/** What undici calls by its own names, by the names that everyone knows. */
const ERRNO_OF_UNDICI: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: "ECONNRESET",
  UND_ERR_CONNECT_TIMEOUT: "ETIMEDOUT",
  UND_ERR_HEADERS_TIMEOUT: "ETIMEDOUT",
  UND_ERR_BODY_TIMEOUT: "ETIMEDOUT",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "ECONNRESET",
};

/** The system's name for what went wrong with a connection, by the code that the error carries. */
export function errnoOf(code: string | undefined): string | undefined {
  return ERRNO_OF_UNDICI[code ?? ""] ?? code;
}
