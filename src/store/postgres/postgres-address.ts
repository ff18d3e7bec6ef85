import { DarumaError } from "../../core/errors/errors.js";

const DEFAULT_SCHEMA = "daruma";
/** Names that need no quotes in SQL, so that a schema is called the same everywhere. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const HIDDEN = "***";

/** Where a store lies, with what may be shown of it. */
export interface PostgresAddress {
  /** For the driver; it may hold a password and is never shown. */
  readonly url: string;
  readonly schema: string;
  /** For messages: host, port and database. */
  readonly label: string;
  /** Takes the password out of a text. */
  hideSecrets(text: string): string;
}

/** Whether it is meant as one, however it is written: what looks like an address, password and all, is no file's name. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/** The schema may be given in the URL too (`?schema=NAME`). */
export function parseAddress(text: string, givenSchema?: string): PostgresAddress {
  const url = parseUrl(text);
  const schema = givenSchema ?? url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  if (!SCHEMA_NAME.test(schema)) {
    throw new DarumaError("STORE_FAILED", `"${schema}" cannot be the name of Daruma's schema in PostgreSQL`, {
      hint: "Use small letters, digits and _, at most 63 characters.",
    });
  }
  const secrets = [url.password, decode(url.password), url.searchParams.get("password") ?? ""];
  // The driver would hand these on to the server, where they would undo the choice of a schema.
  for (const name of ["schema", "search_path"]) url.searchParams.delete(name);
  const label = `PostgreSQL at ${url.host}${url.pathname} (schema ${schema})`;
  return { url: url.href, schema, label, hideSecrets: (shown) => hide(shown, secrets) };
}

function parseUrl(text: string): URL {
  try {
    if (/^postgres(ql)?:\/\//i.test(text)) return new URL(text);
  } catch {
    // The error of URL holds the whole text, password and all.
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
