import type { FastifyReply, FastifyRequest } from "fastify";

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

/**
 * Deletes cookies of longer paths, which browsers send before the one of `/`. Another server on this host may have set
 * them.
 */
export function expireCookiesAt(request: Asking, reply: FastifyReply, paths: Iterable<string>): void {
  // Browsers accept `__Host-` cookies for the path `/` only.
  if (nameFor(request).startsWith("__Host-")) return;
  for (const path of paths) addCookie(reply, cookieText(request, { value: "", path, until: 0 }));
}

/** `/api/v1/runs` -> `/api`, `/api/`, `/api/v1`, ...: browsers treat each as a path of its own. */
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
