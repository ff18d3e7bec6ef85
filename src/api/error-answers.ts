import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import type { Operation } from "../operations/operation.js";
import { API_PREFIX, LAST_WORDS_MS } from "./limits.js";
import { PROBLEM_TYPE, problemOf, readerOf } from "./problem.js";

/** How much of too large headers is examined. */
const MAX_LOOKED_AT_CHARS = 64 * 1024;
const MAX_NAMED_COOKIES = 20;
const COOKIE_NAME = /^[\w.-]{1,60}$/;

interface Cookie {
  readonly name: string;
  readonly chars: number;
}

/**
 * A page for a person whose browser sends more headers than the server reads, nearly always because of cookies that
 * another server on this host has set. Null if a program asks.
 */
function largeHeadersPage(head: Buffer | undefined): string | null {
  const text = head?.toString("latin1", 0, MAX_LOOKED_AT_CHARS) ?? "";
  if (!/^accept:.*\btext\/html\b/im.test(text)) return null;
  const cookies = largestCookies(/^cookie:\s*(.*)$/im.exec(text)?.[1] ?? "");
  const list = cookies
    .map(({ name, chars }) => `<li><code>${name}</code>, ${chars} characters</li>`)
    .join("");
  const which = list === "" ? "" : `<p>The largest of them:</p><ul>${list}</ul>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Too many cookies</title></head>
<body><h1>Your browser sends too many cookies</h1>
<p>Another server at this host, perhaps on another port, has set cookies that are too large for Daruma to read, so that
no request of yours gets through. Clear the cookies of this host in your browser's settings, and sign in again.</p>
${which}</body></html>
`;
}

/** Only names of letters, digits, `_`, `.` and `-`. The page shows nothing else from the request. */
function largestCookies(header: string): Cookie[] {
  return header
    .split(";")
    .map((pair) => ({ name: pair.split("=", 1)[0]!.trim(), chars: pair.trim().length }))
    .filter(({ name }) => COOKIE_NAME.test(name))
    .sort((one, other) => other.chars - one.chars)
    .slice(0, MAX_NAMED_COOKIES);
}

/** Receives the details that an answer replaced by a reference. */
export type FaultListener = (reference: string, error: unknown) => void;

export function answerErrors(
  app: FastifyInstance,
  operations: readonly Operation[],
  onFault: FaultListener | undefined,
): void {
  const known = knownPaths(operations);
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, onFault));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0]!;
    const allowed = known.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods);
    if (allowed.length > 0) reply.header("allow", [...new Set(allowed)].join(", "));
    const error =
      allowed.length > 0
        ? new DarumaError("METHOD_NOT_ALLOWED", `${path} does not take ${request.method}`)
        : new DarumaError("ROUTE_NOT_FOUND", "there is nothing at this address");
    return sendProblem(error, request, reply, onFault);
  });
}

/** Answers requests that never reach a route: an address that cannot be decoded, or bytes that are not HTTP. */
export function answerBrokenRequests(onFault: FaultListener | undefined): {
  frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => void;
  clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => void;
} {
  return {
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply, onFault),
    clientErrorHandler: (error: BrokenRequest, socket) => {
      if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
      const status = BROKEN_STATUS[error.code ?? ""] ?? "400 Bad Request";
      const problem = problemOf(new DarumaError("MALFORMED_REQUEST", "the request cannot be read"));
      const page = error.code === "HPE_HEADER_OVERFLOW" ? largeHeadersPage(error.rawPacket) : null;
      const body = page ?? JSON.stringify({ ...problem, status: Number.parseInt(status, 10) });
      const head = [
        `HTTP/1.1 ${status}`,
        `content-type: ${page === null ? PROBLEM_TYPE : "text/html; charset=utf-8"}`,
        "content-security-policy: default-src 'none'",
        "cache-control: no-store",
        `content-length: ${Buffer.byteLength(body)}`,
        "connection: close",
      ];
      socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
      // A client that does not speak HTTP may never close or read, so the connection is closed after a time limit.
      socket.setTimeout(LAST_WORDS_MS, () => socket.destroy());
      socket.destroySoon();
    },
  };
}

/** Node attaches the bytes that it could not parse. */
type BrokenRequest = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

const BROKEN_STATUS: { readonly [code: string]: string } = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  onFault: FaultListener | undefined,
): FastifyReply {
  const problem = problemOf(error, readerOf(request.headers));
  if (problem.reference !== undefined) onFault?.(problem.reference, error);
  if (problem.status === 401) reply.header("www-authenticate", 'Bearer realm="daruma"');
  if (problem.status === 429 && reply.getHeader("retry-after") === undefined)
    reply.header("retry-after", problem.retry_after_seconds ?? 60);
  // The unread rest of the body may still arrive, and would be taken for the next request.
  if (problem.status === 413) reply.header("connection", "close");
  return reply
    .code(problem.status)
    .header("content-type", PROBLEM_TYPE)
    .header("cache-control", "no-store")
    .send(request.method === "HEAD" ? undefined : JSON.stringify(problem));
}

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: readonly string[];
}

function knownPaths(operations: readonly Operation[]): KnownPath[] {
  return operations.flatMap(({ rest }) => {
    const methods = rest.method === "GET" ? ["GET", "HEAD"] : [rest.method];
    const paths = [`${API_PREFIX}${rest.path}`, ...(rest.unprefixed === true ? [rest.path] : [])];
    return paths.map((path) => ({ pattern: patternOf(path, rest.lastTakesSlashes === true), methods }));
  });
}

function patternOf(path: string, lastTakesSlashes: boolean): RegExp {
  const open = lastTakesSlashes ? path.replace(/\{\w+\}$/, ".+") : path;
  return new RegExp(`^${open.replace(/\{\w+\}/g, "[^/]+")}/?$`);
}
