import type { FastifyReply, FastifyRequest } from "fastify";

type Asking = Pick<FastifyRequest, "headers" | "protocol">;

/**
 * Browsers give a cookie to every port of a host: two servers of one machine must not sign each other out. Under TLS the
 * browser takes the name from nobody but this server.
 */
function nameFor({ headers, protocol }: Asking): string {
  const name = `daruma_${/:(\d+)$/.exec(headers.host ?? "")?.[1] ?? "page"}`;
  return protocol === "https" ? `__Host-${name}` : name;
}

/** All values of this server's cookie. More than one: another server at this host has set one as well. */
export function sessionCookies(request: Asking): string[] {
  const name = nameFor(request);
  return (request.headers.cookie?.split(";") ?? []).flatMap((pair) => {
    const at = pair.indexOf("=");
    return at >= 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
}

export function setSessionCookie(request: Asking, reply: FastifyReply, value: string, until: number): void {
  addCookie(reply, cookieText(request, { value, path: "/", until }));
}

/** Takes away what stands before the cookie of `/`, wherever another server at this host has set it. */
export function expireCookiesAt(request: Asking, reply: FastifyReply, paths: Iterable<string>): void {
  // Such a one could not be set there.
  if (nameFor(request).startsWith("__Host-")) return;
  for (const path of paths) addCookie(reply, cookieText(request, { value: "", path, until: 0 }));
}

/** `/api/v1/runs` -> `/api`, `/api/`, `/api/v1`, ...: each is a path of its own to a browser. */
export function pathsTo(path: string): string[] {
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
