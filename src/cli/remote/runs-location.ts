import { isLoopbackHost } from "../../api/browser-guard.js";
import { DarumaError } from "../../core/errors/errors.js";
import { isPostgresUrl } from "../../store/postgres/postgres-address.js";
import type { GlobalOptions } from "../terminal/channel.js";

type Environment = { readonly [name: string]: string | undefined };

/** Where the runs are: a store, or a server that has one. */
export type RunsLocation = Pick<GlobalOptions, "store" | "server" | "token">;

/**
 * Determines the place. A flag takes precedence over the environment, even over its setting of the other kind of place.
 */
export function locationOf(flags: RunsLocation, env: Environment): RunsLocation {
  const isSet = (text: string | undefined): string | undefined => (text === "" ? undefined : text);
  const server = flags.server ?? (flags.store === undefined ? isSet(env.DARUMA_SERVER) : undefined);
  return {
    server: server === undefined ? undefined : serverAddress(server),
    store: flags.store ?? (flags.server === undefined ? isSet(env.DARUMA_STORE) : undefined),
    token: flags.token ?? isSet(env.DARUMA_TOKEN),
  };
}

/**
 * Cleans up a copied server address: the path below which the operations lie is removed. Workers take several
 * addresses.
 */
export function serverAddress(text: string): string {
  return text
    .split(",")
    .map((each) =>
      each
        .trim()
        .replace(/\/+$/, "")
        .replace(/\/api\/v1$/, "")
        .replace(/\/+$/, ""),
    )
    .join(",");
}

/** Checks a server address. It may have no other parts: a password in it would be shown in messages. */
export function checkedAddress(server: string): string {
  let url: URL;
  try {
    url = new URL(server);
  } catch {
    throw new DarumaError("USAGE", `invalid server address ${server}`, {
      hint: "Write it as http://127.0.0.1:7420.",
    });
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new DarumaError("USAGE", `invalid server address ${server}: only http and https are supported`);
  if (url.username !== "" || url.password !== "")
    throw new DarumaError("USAGE", "--server must not contain a password", {
      hint: "Use --token or DARUMA_TOKEN.",
    });
  return serverAddress(`${url.origin}${url.pathname}`);
}

/** Whether the address can only mean this machine. */
export function isOnThisMachine(server: string): boolean {
  return URL.canParse(server) && isLoopbackHost(new URL(server).hostname);
}

export function checkLocation(flags: RunsLocation, env: Environment): void {
  if (flags.server !== undefined && flags.store !== undefined)
    throw new DarumaError("USAGE", "--server and --store cannot be combined", {
      hint: "A server has its own store.",
    });
  const { store } = locationOf(flags, env);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(store ?? "")?.[1];
  // The rest of the address is not shown, since it may contain a password.
  if (scheme !== undefined && !isPostgresUrl(store!))
    throw new DarumaError("USAGE", `unknown kind of store ${scheme}://...`, {
      hint: "Give a database file, or postgres://USER:PASSWORD@HOST:PORT/DATABASE (also: DARUMA_STORE).",
    });
}
