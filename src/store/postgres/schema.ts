import { DarumaError } from "../../core/errors/errors.js";
import { otherVersion, SCHEMA_VERSION } from "../schema-version.js";
import type { Session } from "./connection-pool.js";
import type { Database, WorkLimits } from "./database.js";
import type { PostgresAddress } from "./postgres-address.js";
import { codeOf } from "./postgres-errors.js";
import { FUNCTIONS } from "./schema-functions.js";
import { TABLES } from "./schema-tables.js";

/** Limits for opening: a server that is just starting is waited for, but a wrong address is reported soon. */
const OPENING_LIMITS: WorkLimits = { patienceMs: 3_000 };
/** Raised if another process has created the schema meanwhile. */
const OVERTAKEN_STATE = "DR002";

/** Creates missing tables in one transaction. If many processes open the store at once, one of them does it. */
export async function prepareSchema(db: Database): Promise<void> {
  const { address } = db;
  await db.work(async (session) => {
    while (!(await hasSchema(session, address))) {
      const script = await makeSchema(session, address.schema);
      try {
        await session.script(script);
      } catch (error) {
        if (codeOf(error) !== OVERTAKEN_STATE) throw error;
      }
    }
  }, OPENING_LIMITS);
}

/**
 * Creates the schema if it is missing. It is looked up first, because creating one takes a privilege that the user of
 * an existing one need not have.
 */
async function makeSchema(session: Session, schema: string): Promise<string> {
  const [encoding] = await session.rows<{ server_encoding: string }>("SHOW server_encoding");
  if (encoding?.server_encoding !== "UTF8") {
    throw new DarumaError("STORE_FAILED", `the database has the encoding ${encoding?.server_encoding}`, {
      hint: "Make a database with the encoding UTF8.",
    });
  }
  const there = await session.rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", schema);
  return `
    SELECT pg_advisory_xact_lock(hashtextextended('daruma schema ${schema}', 0));
    DO $$ BEGIN
      IF to_regclass('${schema}.schema_version') IS NOT NULL THEN
        RAISE EXCEPTION 'overtaken' USING ERRCODE = '${OVERTAKEN_STATE}';
      END IF;
    END $$;
    ${there.length === 0 ? `CREATE SCHEMA IF NOT EXISTS ${schema};` : ""}
    ${TABLES} ${FUNCTIONS}
    CREATE TABLE schema_version (version integer NOT NULL);
    INSERT INTO schema_version (version) VALUES (${SCHEMA_VERSION});`;
}

/** Whether the schema has our tables. Throws, before anything is changed, if it has other tables or another version. */
async function hasSchema(session: Session, address: PostgresAddress): Promise<boolean> {
  const tables = await session.rows<{ tablename: string }>(
    "SELECT tablename FROM pg_tables WHERE schemaname = $1",
    address.schema,
  );
  if (tables.length === 0) return false;
  if (!tables.some(({ tablename }) => tablename === "schema_version")) {
    throw new DarumaError("STORE_FAILED", `${address.label}: the schema belongs to another program`, {
      hint: "Give Daruma a schema of its own: add ?schema=NAME to the URL.",
    });
  }
  const [row] = await session.rows<{ version: number }>("SELECT version FROM schema_version");
  if (row?.version !== SCHEMA_VERSION) throw otherVersion(address.label, row?.version ?? 0);
  return true;
}
