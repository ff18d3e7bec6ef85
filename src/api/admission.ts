import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import type { Principal } from "../operations/context.js";
import { mayAct, type Role } from "../operations/roles.js";
import type { Authenticator, Caller } from "./authenticate.js";
import { checkLocalRequest, checkOrigin } from "./browser-guard.js";
import { AS_HEADER, OPEN_DOOR_FRESH_MS } from "./limits.js";
import { checkPageRequest, credentialsOf, sessionIn } from "./session.js";

declare module "fastify" {
  interface FastifyRequest {
    /** The caller; null on public routes. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /** Needs no token. */
    public?: true;
    /** True for routes that only programs of this installation call. Their requests are not limited. */
    unlimited?: true;
    /** Accepts tokens only: the cookie of a signed-in browser does not count here. */
    tokensOnly?: true;
  }
}

const ALLOWED_HEADERS = "authorization, content-type, last-event-id";
const ALLOWED_METHODS = "GET, POST, PUT, DELETE";
const PREFLIGHT_SECONDS = 600;

/** Authenticates requests. Each route then checks the role. */
export function admitRequests(
  app: FastifyInstance,
  authenticator: Authenticator,
  allowedOrigins: readonly string[],
): void {
  app.decorateRequest("caller", null);
  app.addHook("onRequest", async (request, reply) => {
    const { origin, host } = request.headers;
    if (origin !== undefined && allowedOrigins.includes(origin)) {
      reply.header("access-control-allow-origin", origin).header("vary", "origin");
      if (request.method === "OPTIONS") return answerPreflight(reply);
    }
    if (request.routeOptions.config?.public === true) return;
    const { "sec-fetch-site": site, "sec-fetch-mode": mode } = request.headers as Record<string, string>;
    const from = { method: request.method, host, origin, site, mode };
    checkOrigin(from, allowedOrigins);
    const freshMs = request.routeOptions.config?.unlimited === true ? OPEN_DOOR_FRESH_MS : 0;
    const credentials = credentialsOf(request, reply);
    if (credentials.session !== null) checkPageRequest(request);
    const caller = await authenticator.authenticate(credentials, request.ip, freshMs);
    if (caller.token === null) checkLocalRequest(from, allowedOrigins);
    request.caller = caller;
  });
}

function answerPreflight(reply: FastifyReply): FastifyReply {
  return reply
    .header("access-control-allow-methods", ALLOWED_METHODS)
    .header("access-control-allow-headers", ALLOWED_HEADERS)
    .header("access-control-max-age", PREFLIGHT_SECONDS)
    .code(204)
    .send();
}

export function principalOf(request: FastifyRequest): Principal {
  if (request.caller === null) throw new DarumaError("UNAUTHENTICATED", "the request has no token");
  const as = request.headers[AS_HEADER];
  const { principal } = request.caller;
  return typeof as === "string" && AS_FORM.test(as) ? { ...principal, as } : principal;
}

const AS_FORM = /^[\w.-]{1,40}$/;

/** Checks the caller again, because the token may have been revoked since, or a token may be needed by now. */
export function recheckCaller(
  authenticator: Authenticator,
  request: FastifyRequest,
  role: Role,
): () => Promise<void> {
  const { authorization } = request.headers;
  const credentials = { authorization, session: authorization === undefined ? sessionIn(request) : null };
  return async () => {
    try {
      const { principal } = await authenticator.authenticate(credentials, request.ip);
      refuseOtherRoles(principal, role);
    } catch (error) {
      // If the store fails for a moment, that says nothing about the caller, and the stream has nothing to send either.
      if (!(error instanceof DarumaError && error.code === "STORE_FAILED")) throw error;
    }
  };
}

/** Checks the role before the body is read, so that nobody fills memory with a request that will be refused. */
export function requireRole(role: Role): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    refuseOtherRoles(principalOf(request), role);
  };
}

function refuseOtherRoles({ role: own }: Principal, role: Role): void {
  if (!mayAct(own, role))
    throw new DarumaError("FORBIDDEN", `this needs the role ${role}; the token's role is ${own}`);
}
