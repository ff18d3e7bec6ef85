import { Database } from "../postgres/database.js";
import { parseAddress } from "../postgres/postgres-address.js";
import { SCHEMA_VERSION } from "../schema-version.js";
import type { StoreInspection } from "./store-inspection.js";

/** Inspects a database without creating its schema. */
export async function inspectPostgres(url: string): Promise<StoreInspection> {
  const db = new Database(parseAddress(url), 1);
  try {
    return await inspectSchema(db);
  } finally {
    await db.close();
  }
}

/** Pages are not checked, because the database server does that. */
export async function inspectSchema(db: Database): Promise<StoreInspection> {
  const [server] = await db.rows<{ version: string; bytes: number; is_there: boolean }>(
    `SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
       to_regclass('schema_version') IS NOT NULL AS is_there`,
  );
  const [schema] =
    server?.is_there === true ? await db.rows<{ version: number }>("SELECT version FROM schema_version") : [];
  return {
    kind: "postgres",
    place: db.address.label,
    version: schema?.version ?? null,
    newestVersion: SCHEMA_VERSION,
    problems: [],
    checked: true,
    bytes: server === undefined ? null : Number(server.bytes),
    walBytes: null,
    server: server?.version ?? null,
  };
}
