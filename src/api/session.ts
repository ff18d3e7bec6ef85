import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { DarumaError } from "../core/errors/errors.js";
import type { Operation } from "../operations/operation.js";
import { type Authenticator, COOKIE_TWICE, type Credentials } from "./authenticate.js";
import { checkOrigin, isOwnOrigin, isReading } from "./browser-guard.js";
import { API_PREFIX } from "./limits.js";
import { expireCookiesAt, pathsTo, sessionCookies, setSessionCookie } from "./session-cookie.js";

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
