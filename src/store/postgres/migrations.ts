import { DarumaError } from "../../core/errors/errors.js";
import { BOOK } from "./book-schema.js";
import { CAMPAIGNS } from "./campaign-verbs.js";
import { CHECKPOINTS } from "./checkpoint-schema.js";
import { CLUSTERS } from "./cluster-verbs.js";
import { commitFunctions } from "./commit/commit-function.js";
import type { Session } from "./connection-pool.js";
import type { Database, WorkLimits } from "./database.js";
import { OUTBOX } from "./outbox/outbox-verbs.js";
import { PLACES } from "./places/place-schema.js";
import type { PostgresAddress } from "./postgres-address.js";
import { codeOf } from "./postgres-errors.js";
import {
  CAUSES,
  COMMIT_FUNCTION,
  DEAD_LETTERS,
  DELETE_FUNCTION,
  EVENTS_ABOUT_JOBS,
  EVENTS_BY_JOB,
  REGISTER_FUNCTION,
  TABLES,
} from "./schema.js";
import { SEARCH, UNANSWERED } from "./search-schema.js";
import { SHARED } from "./shared-verbs.js";
import { SNAPSHOTS } from "./snapshot-verbs.js";
import { WAITING_RUNS } from "./waiting-verbs.js";

interface Migration {
  readonly version: number;
  readonly sql: string;
}

/** Never edit one that was released; add the next. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: [TABLES, COMMIT_FUNCTION, REGISTER_FUNCTION, DELETE_FUNCTION].join("\n") },
  // The call of `claimRuns` that got it, so that the same call finds it after its answer was lost.
  { version: 2, sql: "ALTER TABLE lease ADD COLUMN claim text;" },
  { version: 3, sql: DEAD_LETTERS },
  { version: 4, sql: [CAUSES, CHECKPOINTS].join("\n") },
  { version: 5, sql: WAITING_RUNS },
  { version: 6, sql: CLUSTERS },
  { version: 7, sql: EVENTS_BY_JOB },
  {
    version: 8,
    sql: "ALTER TABLE attempt ADD COLUMN node text, ADD COLUMN allocation text, ADD COLUMN restart integer;",
  },
  { version: 9, sql: SNAPSHOTS },
  { version: 10, sql: BOOK },
  { version: 11, sql: SEARCH },
  { version: 12, sql: CAMPAIGNS },
  { version: 13, sql: SHARED },
  { version: 14, sql: UNANSWERED },
  {
    version: 15,
    sql: `ALTER TABLE run ADD COLUMN wanted_at bigint;
      CREATE INDEX run_wanted_at ON run (wanted_at) WHERE wanted_at IS NOT NULL;`,
  },
  // The text that a definition was read from, so that somebody can look at it and go on from it.
  { version: 16, sql: "ALTER TABLE definition ADD COLUMN written text;" },
  { version: 17, sql: OUTBOX },
  { version: 18, sql: PLACES },
  // Few events are decisions, and statistics look for them in the runs of weeks.
  {
    version: 19,
    sql: `CREATE INDEX event_decision ON event (run_id, seq) WHERE type IN ('hold.resolved', 'human.answered', 'jobs.retried');`,
  },
  { version: 20, sql: EVENTS_ABOUT_JOBS },
];

/** What is no history, such as functions, is made anew after the migrations. */
const SCHEMA = { migrations: MIGRATIONS, functions: commitFunctions() };

/** A server that just starts is waited for; an address that is wrong is told soon. */
const OPENING_LIMITS: WorkLimits = { patienceMs: 3_000 };
/** Raised by a migration that was no longer needed when its turn came. */
const OVERTAKEN_STATE = "DR002";

/** Bring the schema to the newest version, in one transaction; of many who open at once, one does it. */
export async function migrate(
  db: Database,
  {
    migrations,
    functions,
  }: { readonly migrations: readonly Migration[]; readonly functions: string } = SCHEMA,
): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  const { address } = db;
  await db.work(async (session) => {
    for (;;) {
      const version = await readVersion(session, address, newest);
      if (version === newest) return;
      const steps = migrations.filter((migration) => migration.version > version).map(({ sql }) => sql);
      const beginning = version === 0 ? await prepareSchema(session, address.schema) : "";
      try {
        await session.script(
          `${lockAt(address.schema, version)} ${beginning} ${steps.join("\n")} ${functions}
           UPDATE schema_version SET version = ${newest};`,
        );
      } catch (error) {
        if (codeOf(error) !== OVERTAKEN_STATE) throw error;
      }
    }
  }, OPENING_LIMITS);
}

/** Once the lock is had, the version must still be the one that was read before it. */
function lockAt(schema: string, version: number): string {
  const table = `to_regclass('${schema}.schema_version')`;
  const isOther =
    version === 0
      ? `${table} IS NOT NULL`
      : `(SELECT schema_version.version FROM schema_version) <> ${version}`;
  return `
    SELECT pg_advisory_xact_lock(hashtextextended('daruma schema ${schema}', 0));
    DO $$ BEGIN
      IF ${isOther} THEN RAISE EXCEPTION 'overtaken' USING ERRCODE = '${OVERTAKEN_STATE}'; END IF;
    END $$;`;
}

/** Asked before made: to make a schema takes a right that the user of one that is there need not have. */
async function prepareSchema(session: Session, schema: string): Promise<string> {
  const [encoding] = await session.rows<{ server_encoding: string }>("SHOW server_encoding");
  if (encoding?.server_encoding !== "UTF8") {
    throw new DarumaError("STORE_FAILED", `the database has the encoding ${encoding?.server_encoding}`, {
      hint: "Make a database with the encoding UTF8.",
    });
  }
  const there = await session.rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", schema);
  return `
    ${there.length === 0 ? `CREATE SCHEMA IF NOT EXISTS ${schema};` : ""}
    CREATE TABLE schema_version (version integer NOT NULL);
    INSERT INTO schema_version (version) VALUES (0);`;
}

/** 0: nothing is there. What is not Daruma's, or of a newer Daruma, is refused before it is touched. */
async function readVersion(session: Session, address: PostgresAddress, newest: number): Promise<number> {
  const tables = await session.rows<{ tablename: string }>(
    "SELECT tablename FROM pg_tables WHERE schemaname = $1",
    address.schema,
  );
  if (tables.length === 0) return 0;
  if (!tables.some(({ tablename }) => tablename === "schema_version")) {
    throw new DarumaError("STORE_FAILED", `${address.label}: the schema belongs to another program`, {
      hint: "Give Daruma a schema of its own: add ?schema=NAME to the URL.",
    });
  }
  const [row] = await session.rows<{ version: number }>("SELECT version FROM schema_version");
  const version = row?.version ?? 0;
  if (version > newest) {
    throw new DarumaError(
      "STORE_VERSION",
      `${address.label}: the database has version ${version}, this Daruma knows ${newest} and older`,
    );
  }
  return version;
}
