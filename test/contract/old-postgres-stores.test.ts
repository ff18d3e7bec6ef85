import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import postgres, { type Sql } from "postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inspectPostgres } from "../../src/store/inspect/inspect-postgres.js";
import { toCommitParameters } from "../../src/store/postgres/commit/commit-payload.js";
import { Database } from "../../src/store/postgres/database.js";
import { MIGRATIONS, migrate } from "../../src/store/postgres/migrations.js";
import { parseAddress } from "../../src/store/postgres/postgres-address.js";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import { freshSchema, sharedPostgresUrl } from "../support/embedded-postgres.js";
import { expectKilledRunToGoOn } from "../support/killed-run.js";
import { appendTo, takeRun } from "./store-fixtures.js";

/** What a killed build of about the same time had recorded: run 1 had ended, run 2 was at its step `long`. Of later versions: the last dump. */
const RECORDED_BY: { readonly [version: number]: string } = {
  1: "sqlite-v2.sql",
  2: "sqlite-v2.sql",
  3: "sqlite-v3.sql",
  4: "sqlite-v5.sql",
  5: "sqlite-v6.sql",
  6: "sqlite-v7.sql",
  7: "sqlite-v8.sql",
  8: "sqlite-v9.sql",
  9: "sqlite-v10.sql",
  10: "sqlite-v11.sql",
  11: "sqlite-v12.sql",
  12: "sqlite-v13.sql",
  13: "sqlite-v14.sql",
  14: "sqlite-v15.sql",
  15: "sqlite-v16.sql",
  16: "sqlite-v17.sql",
};
const LAST_RECORDED = "sqlite-v16.sql";
const OLD_VERSIONS = MIGRATIONS.slice(0, -1).map(({ version }) => version);
const TABLES = ["definition", "workflow", "run", "event", "job", "attempt", "route", "lease"];

let folder = "";
let schema = "";
let sql: Sql;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "daruma-old-"));
  schema = freshSchema();
  sql = postgres(await sharedPostgresUrl(), {
    max: 1,
    onnotice: () => {},
    connection: { search_path: schema },
  });
});

afterEach(async () => {
  await sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await sql.end();
  rmSync(folder, { recursive: true, force: true });
});

/** The schema as it was at this version, which the checksums of the migrations guard, with rows of that time in it. */
async function makeOld(version: number): Promise<void> {
  const db = new Database(parseAddress(await sharedPostgresUrl(), schema), 2);
  await migrate(db, { migrations: MIGRATIONS.slice(0, version), functions: "" });
  await db.close();
  const dump = readFileSync(
    new URL(`../fixtures/stores/${RECORDED_BY[version] ?? LAST_RECORDED}`, import.meta.url),
    "utf8",
  );
  const recorded = new DatabaseSync(":memory:");
  recorded.exec(dump.replaceAll("@FOLDER@", folder));
  recorded.exec("UPDATE lease SET expires_at = 1");
  for (const table of TABLES) {
    const columns = await sql<{ name: string; type: string }[]>`
      SELECT column_name AS name, data_type AS type FROM information_schema.columns
      WHERE table_schema = ${schema} AND table_name = ${table}`;
    for (const row of recorded.prepare(`SELECT * FROM "${table}"`).all() as { [name: string]: unknown }[]) {
      const kept = columns.filter(({ name }) => name in row);
      const cells = kept.map(({ name, type }) => (type === "boolean" ? row[name] === 1 : row[name]) as never);
      await sql.unsafe(
        `INSERT INTO "${table}" (${kept.map(({ name }) => `"${name}"`)}) OVERRIDING SYSTEM VALUE
         VALUES (${kept.map((_, index) => `$${index + 1}`)})`,
        cells,
      );
    }
  }
  await sql.unsafe("SELECT setval('run_id', (SELECT max(id) FROM run))");
  recorded.close();
}

const counts = async () =>
  Promise.all(TABLES.map(async (table) => [table, (await sql.unsafe(`SELECT 1 FROM "${table}"`)).length]));

describe.each(OLD_VERSIONS)("a PostgreSQL schema of version %i", (version) => {
  test("opens with every row it had, and its killed run goes on where it was, to its end", async () => {
    await makeOld(version);
    const before = await counts();
    const store = await openPostgresStore({ url: await sharedPostgresUrl(), schema, maxConnections: 4 });
    expect(await counts()).toEqual(before);
    expect(await sql.unsafe("SELECT version FROM schema_version")).toEqual([{ version: MIGRATIONS.length }]);
    writeFileSync(join(folder, "go"), "");
    await expectKilledRunToGoOn({ outputDir: folder, store });
    await store.close();
  });
});

test("a database is looked at without being made or brought up to date", async () => {
  const url = `${await sharedPostgresUrl()}?schema=${schema}`;
  expect(await inspectPostgres(url)).toMatchObject({ version: null, newestVersion: MIGRATIONS.length });
  expect(await sql.unsafe(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`)).toEqual([]);
  await makeOld(7);
  expect(await inspectPostgres(url)).toMatchObject({ version: 7, problems: [] });
  expect(await sql.unsafe("SELECT version FROM schema_version")).toEqual([{ version: 7 }]);
});

test("an event of a server of the version before, which does not say which job it is about, is found by its job", async () => {
  const store = await openPostgresStore({ url: await sharedPostgresUrl(), schema, leaseClock: "caller" });
  const run = await takeRun(store);
  const about = (type: string, job: number) => ({
    at: 1,
    type,
    data: JSON.stringify({ type, job, attempt: 1 }),
  });
  const whole = { at: 1, type: "run.started", data: '{"type":"run.started"}' };
  await store.commit([appendTo(run, 1, { events: [whole, about("attempt.started", 7)] })]);
  const earlier = toCommitParameters(
    [appendTo(run, 3, { events: [about("attempt.failed", 7), about("attempt.started", 8)] })],
    [],
  ).toSpliced(9, 1);
  const places = earlier.map((_, index) =>
    index > 8 && index < 16 ? `$${index + 1}::text::json` : `$${index + 1}`,
  );
  await sql.unsafe(`SELECT commit_appends(${places.join(", ")})`, earlier);
  const found = await store.readEvents(run.runId, { job: 7 });
  expect(found.map(({ seq }) => seq)).toEqual([2, 3]);
  const columns = await sql.unsafe("SELECT about_job FROM event ORDER BY seq");
  expect(columns.map(({ about_job }) => about_job)).toEqual(["0", "7", null, null]);
  await store.close();
});
