import { DarumaError } from "../../core/errors/errors.js";

const DEFAULT_SCHEMA = "daruma";
/** Names that need no quotes in SQL, so that a schema has the same name everywhere. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const HIDDEN = "***";

/** The address of a store, and the part of it that may be shown. */
export interface PostgresAddress {
  /** The URL for the driver. It may contain a password and is never shown. */
  readonly url: string;
  readonly schema: string;
  /** The host, port and database, for messages. */
  readonly label: string;
  /** Takes the password out of a text. */
  hideSecrets(text: string): string;
}

/** Whether a text is meant as a PostgreSQL address. One with a password must never be taken for a file name. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/** Parses an address. The schema may also be given in the URL (`?schema=NAME`). */
export function parseAddress(text: string, givenSchema?: string): PostgresAddress {
  const url = parseUrl(text);
  const schema = givenSchema ?? url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  if (!SCHEMA_NAME.test(schema)) {
    throw new DarumaError("STORE_FAILED", `"${schema}" cannot be the name of Daruma's schema in PostgreSQL`, {
      hint: "Use small letters, digits and _, at most 63 characters.",
    });
  }
  const secrets = [url.password, decode(url.password), url.searchParams.get("password") ?? ""];
  // The driver would pass these on to the server, where they would override the schema.
  for (const name of ["schema", "search_path"]) url.searchParams.delete(name);
  const label = `PostgreSQL at ${url.host}${url.pathname} (schema ${schema})`;
  return { url: url.href, schema, label, hideSecrets: (shown) => hide(shown, secrets) };
}

function parseUrl(text: string): URL {
  try {
    if (/^postgres(ql)?:\/\//i.test(text)) return new URL(text);
  } catch {
    // The error of URL contains the whole text, including the password.
  }
  throw new DarumaError("STORE_FAILED", "the address of the PostgreSQL store is not a URL", {
    hint: "Write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters percent-encoded.",
  });
}

function hide(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== "")
    .reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
