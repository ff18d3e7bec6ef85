import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { DarumaError } from "../core/errors/errors.js";
import type { Authenticator, Credentials } from "./authenticate.js";
import { checkOrigin, isOwnOrigin, isReading } from "./browser-guard.js";

/** No form and no image can send it, and a page of another origin is not allowed to. */
const PAGE_HEADER = "x-daruma-page";
const SESSION_PATH = "/session";

const COOKIE_VALUE = /^[A-Za-z0-9_-]{16,200}$/;
const signIn = z.strictObject({ token: z.string().regex(COOKIE_VALUE) });

export function credentialsOf({ headers }: Pick<FastifyRequest, "headers">): Credentials {
  if (headers.authorization !== undefined) return { authorization: headers.authorization, byCookie: false };
  const value = readCookie(headers.cookie, cookieName(headers.host));
  return value === null
    ? { authorization: undefined, byCookie: false }
    : { authorization: `Bearer ${value}`, byCookie: true };
}

/** SameSite keeps the cookie from other sites, but not from another server on the same machine. */
export function checkPageRequest({ method, headers }: FastifyRequest): void {
  if (isReading(method)) return;
  const { origin, host, [PAGE_HEADER]: header } = headers;
  if (header === undefined || origin === undefined || !isOwnOrigin(host, origin))
    throw new DarumaError("ORIGIN_REFUSED", "the request does not come from this server's page");
}

/** Signing in and out. The cookie is the token itself, so that its role, end and revocation hold for both alike. */
export function sessionRoutes(app: FastifyInstance, authenticator: Authenticator): void {
  const open = { config: { public: true as const } };
  app.post(SESSION_PATH, open, async (request, reply) => {
    refuseOtherPages(request);
    const form = signIn.safeParse(request.body);
    if (!form.success) throw new DarumaError("UNAUTHENTICATED", "this is not the form of a token");
    const { token } = form.data;
    const given = { authorization: `Bearer ${token}`, byCookie: false };
    const { principal, expiresAt } = await authenticator.authenticate(given, request.ip);
    setCookie(request, reply, token, expiresAt);
    return { name: principal.name, role: principal.role };
  });
  app.delete(SESSION_PATH, open, async (request, reply) => {
    refuseOtherPages(request);
    setCookie(request, reply, "", 0);
    return reply.code(204).send();
  });
}

function refuseOtherPages(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  checkOrigin({ method: request.method, host, origin }, []);
  checkPageRequest(request);
}

function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  value: string,
  expiresAt: number | null,
): void {
  const parts = [
    `${cookieName(request.headers.host)}=${value}`,
    "Path=/",
    "HttpOnly",
    "SameSite=Strict",
    ...(request.protocol === "https" ? ["Secure"] : []),
    ...(expiresAt === null ? [] : [`Expires=${new Date(expiresAt).toUTCString()}`]),
  ];
  reply.header("set-cookie", parts.join("; ")).header("cache-control", "no-store");
}

/** Browsers give a cookie to every port of a host: two servers of one machine must not sign each other out. */
function cookieName(host = ""): string {
  return `daruma_${/:(\d+)$/.exec(host)?.[1] ?? "page"}`;
}

function readCookie(header: string | undefined, name: string): string | null {
  for (const pair of header?.split(";") ?? []) {
    const [key, value = ""] = pair.trim().split("=", 2);
    if (key === name && COOKIE_VALUE.test(value)) return value;
  }
  return null;
}
