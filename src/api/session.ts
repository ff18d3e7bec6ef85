import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { DarumaError } from "../core/errors/errors.js";
import type { Operation } from "../operations/operation.js";
import { type Authenticator, COOKIE_TWICE, type Credentials } from "./authenticate.js";
import { checkOrigin, isOwnOrigin, isReading } from "./browser-guard.js";
import { API_PREFIX } from "./limits.js";

/** A header that no form or image can send, and that pages of other origins are not allowed to send. */
const PAGE_HEADER = "x-daruma-page";
const SESSION_PATH = "/session";

const TOKEN_FORM = /^[A-Za-z0-9_-]{16,200}$/;
const SESSION_ID = /^[A-Za-z0-9_-]{43}$/;
const signIn = z.strictObject({ token: z.string().regex(TOKEN_FORM) });

export function credentialsOf(request: FastifyRequest, reply: FastifyReply): Credentials {
  const { authorization } = request.headers;
  if (authorization !== undefined || request.routeOptions.config?.tokensOnly === true)
    return { authorization, session: null };
  const session = sessionIn(request);
  if (session === COOKIE_TWICE) expireCookiesAt(request, reply, pathsTo(request.url.split("?", 1)[0]!));
  return { authorization, session };
}

export function sessionIn(request: FastifyRequest): string | null {
  const values = sessionCookies(request);
  if (values.length > 1) return COOKIE_TWICE;
  return values.find((value) => SESSION_ID.test(value)) ?? null;
}

/**
 * Checks that the page itself made a request. SameSite keeps the cookie from other sites, but not from another server
 * on the same machine.
 */
export function checkPageRequest({ method, headers }: FastifyRequest): void {
  if (isReading(method)) return;
  const { origin, host, [PAGE_HEADER]: header } = headers;
  if (header === undefined || origin === undefined || !isOwnOrigin(host, origin))
    throw new DarumaError("ORIGIN_REFUSED", "the request does not come from this server's page");
}

/**
 * Routes for signing in and out. Browsers send the cookie to every server on this host, on any port. It therefore holds
 * no token, but a session id that only this server accepts, only from the page, and for a limited time.
 */
export function sessionRoutes(
  app: FastifyInstance,
  authenticator: Authenticator,
  operations: readonly Operation[],
): void {
  const open = { config: { public: true as const } };
  const paths = servedPaths(operations);
  app.post(SESSION_PATH, open, async (request, reply) => {
    refuseOtherPages(request);
    const form = signIn.safeParse(request.body);
    if (!form.success)
      throw new DarumaError("UNAUTHENTICATED", "this is not a token: tokens begin with drm_");
    const given = { authorization: `Bearer ${form.data.token}`, session: null };
    const caller = await authenticator.authenticate(given, request.ip);
    const { id, until } = await authenticator.beginSession(caller);
    await endSessions(request, authenticator);
    expireCookiesAt(request, reply, paths);
    setSessionCookie(request, reply, id, until);
    return { name: caller.principal.name, role: caller.principal.role };
  });
  app.delete(SESSION_PATH, open, async (request, reply) => {
    refuseOtherPages(request);
    await endSessions(request, authenticator);
    expireCookiesAt(request, reply, paths);
    setSessionCookie(request, reply, "", 0);
    return reply.code(204).send();
  });
}

async function endSessions(request: FastifyRequest, authenticator: Authenticator): Promise<void> {
  const session = sessionIn(request);
  if (session !== null && session !== COOKIE_TWICE) await authenticator.endSession(session);
}

/**
 * The paths whose cookies browsers would send before that of `/`. A cookie of a still longer path is deleted when a
 * request carries it.
 */
function servedPaths(operations: readonly Operation[]): ReadonlySet<string> {
  const fixed = operations.flatMap(({ rest }) => {
    const path = rest.path.split("/{", 1)[0]!;
    return [`${API_PREFIX}${path}`, ...(rest.unprefixed === true ? [path] : [])];
  });
  return new Set([SESSION_PATH, ...fixed].flatMap(pathsTo));
}

function refuseOtherPages(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  checkOrigin({ method: request.method, host, origin }, []);
  checkPageRequest(request);
}

type Asking = Pick<FastifyRequest, "headers" | "protocol">;

/**
 * The cookie's name. It contains the port, because browsers send a cookie to every port of a host, and two servers on
 * one machine must not sign each other out. The prefix `__Host-` makes browsers accept it only from this server, under
 * TLS.
 */
function nameFor({ headers, protocol }: Asking): string {
  const name = `daruma_${/:(\d+)$/.exec(headers.host ?? "")?.[1] ?? "page"}`;
  return protocol === "https" ? `__Host-${name}` : name;
}

/** All values of this server's cookie. There are several if another server on this host has set one, too. */
function sessionCookies(request: Asking): string[] {
  const name = nameFor(request);
  return (request.headers.cookie?.split(";") ?? []).flatMap((pair) => {
    const at = pair.indexOf("=");
    return at >= 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
}

function setSessionCookie(request: Asking, reply: FastifyReply, value: string, until: number): void {
  addCookie(reply, cookieText(request, { value, path: "/", until }));
}

/**
 * Deletes cookies of longer paths, which browsers send before the one of `/`. Another server on this host may have set
 * them.
 */
function expireCookiesAt(request: Asking, reply: FastifyReply, paths: Iterable<string>): void {
  // Browsers accept `__Host-` cookies for the path `/` only.
  if (nameFor(request).startsWith("__Host-")) return;
  for (const path of paths) addCookie(reply, cookieText(request, { value: "", path, until: 0 }));
}

/** `/api/v1/runs` -> `/api`, `/api/`, `/api/v1`, ...: browsers treat each as a path of its own. */
function pathsTo(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.flatMap((_, index) => {
    const upTo = `/${parts.slice(0, index + 1).join("/")}`;
    return [upTo, `${upTo}/`];
  });
}

function cookieText(
  request: Asking,
  { value, path, until }: { readonly value: string; readonly path: string; readonly until: number },
): string {
  return [
    `${nameFor(request)}=${value}`,
    `Path=${path}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(request.protocol === "https" ? ["Secure"] : []),
    `Expires=${new Date(until).toUTCString()}`,
  ].join("; ");
}

function addCookie(reply: FastifyReply, text: string): void {
  reply.header("set-cookie", text).header("cache-control", "no-store");
}
