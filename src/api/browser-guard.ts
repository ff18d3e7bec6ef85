import { isIP } from "node:net";
import { DarumaError } from "../core/errors/errors.js";

/** The headers in which a browser states where a request comes from. */
export interface RequestOrigin {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `sec-fetch-site` and `sec-fetch-mode`, which a page cannot forge. Browsers send them, programs do not. */
  readonly site?: string | undefined;
  readonly mode?: string | undefined;
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/** Whether a request of this method changes nothing. */
export function isReading(method: string): boolean {
  return READING.has(method);
}

/**
 * Stops pages of other sites from using the browser of somebody who may use this server. Requests of a page carry its
 * origin; programs send none.
 */
export function checkOrigin({ method, host, origin }: RequestOrigin, allowed: readonly string[]): void {
  if (isReading(method) || isOwnOrigin(host, origin) || (origin !== undefined && allowed.includes(origin)))
    return;
  throw new DarumaError("ORIGIN_REFUSED", "the request comes from a web page of another origin");
}

/**
 * Protects a server without tokens, where only the network keeps others out. A page whose name was pointed at this
 * machine (DNS rebinding) passes the network, but its requests name that host.
 */
export function checkLocalRequest(
  { method, host, origin, site, mode }: RequestOrigin,
  allowed: readonly string[],
): void {
  if (host === undefined || !isLoopbackHost(hostName(host)))
    throw new DarumaError("HOST_REFUSED", "the request names a host that is not this machine");
  if (origin !== undefined && allowed.includes(origin)) return;
  // Images and scripts of another page send no origin. Following a link (navigate) is the user's own request.
  const isOfOtherPage = site === "cross-site" || site === "same-site";
  const isFollowedLink = mode === "navigate" && isReading(method);
  if (isOwnOrigin(host, origin) && (!isOfOtherPage || isFollowedLink)) return;
  throw new DarumaError("ORIGIN_REFUSED", "the request comes from a web page of another origin");
}

/** Compares host and port. The scheme differs behind a proxy that speaks TLS. */
export function isOwnOrigin(host: string | undefined, origin: string | undefined): boolean {
  if (origin === undefined) return true;
  try {
    return host !== undefined && HOST.test(host) && new URL(origin).host === new URL(`http://${host}`).host;
  } catch {
    return false;
  }
}

/** A name or an address, with an optional port. `URL` would also accept `localhost#evil` and `evil@localhost`. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

function hostName(host: string): string {
  return HOST.test(host) ? host.replace(/:\d+$/, "") : "";
}

/** Takes a name, or an address as it is written in a URL. */
export function isLoopbackHost(name: string): boolean {
  const bare = name.replace(/^\[|\]$/g, "").toLowerCase();
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}
