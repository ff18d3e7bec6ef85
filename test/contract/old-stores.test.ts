import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MIGRATIONS } from "../../src/store/sqlite/migrations.js";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import { expectKilledRunToGoOn } from "../support/killed-run.js";

/**
 * Each dump was made by a build of its time: run 1 had ended, run 2 was at its step `long` when the process was killed.
 * `sqlite-v8` to `sqlite-v17` are the dump of version 7 with what came with these versions. `sqlite-v3-from-first` is of the first form of version 1, marked as version 3 by a build that could not use it then.
 */
const DUMPS = new URL("../fixtures/stores/", import.meta.url).pathname;
const TABLES = ["workflow", "run", "event", "job", "attempt", "route", "lease", "inbox"];

let folder = "";
let file = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-old-"));
  file = join(folder, "daruma.db");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As the file lay there after the kill; its leases have run out since, its paths are those of this folder. */
function loadDump(name: string): void {
  const dump = readFileSync(join(DUMPS, name), "utf8").replaceAll("@FOLDER@", folder);
  const db = new DatabaseSync(file);
  db.exec(dump);
  db.exec("UPDATE lease SET expires_at = 1");
  db.close();
}

function readAll<Row>(sql: string): Row[] {
  const db = new DatabaseSync(file);
  const rows = db.prepare(sql).all() as Row[];
  db.close();
  return rows;
}

function schemaOf(): string[] {
  const columns = readAll<{ name: string }>(
    `SELECT t.name || '.' || c.name AS name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
     WHERE t.type = 'table' UNION SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY 1`,
  );
  return columns.map(({ name }) => name);
}

const rowsOf = () =>
  TABLES.map((table) => [table, readAll<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n]);

test("there is a dump of every schema but the newest", () => {
  const versions = readdirSync(DUMPS).map((name) => Number(/^sqlite-v(\d+)/.exec(name)?.[1]));
  expect(new Set(versions)).toEqual(new Set(MIGRATIONS.slice(0, -1).map(({ version }) => version)));
});

describe.each(readdirSync(DUMPS))("%s", (name) => {
  test("opens with every row it had and the tables of a new file", async () => {
    await (await openSqliteStore({ file })).close();
    const fresh = schemaOf();
    rmSync(file);
    loadDump(name);
    const before = rowsOf();
    await (await openSqliteStore({ file })).close();
    expect(schemaOf()).toEqual(fresh);
    expect(rowsOf()).toEqual(before);
    expect(readAll("SELECT version FROM schema_version")).toEqual([{ version: MIGRATIONS.length }]);
    expect(readAll("PRAGMA foreign_key_check")).toEqual([]);
  });

  test("its killed run goes on where it was, to its end", async () => {
    loadDump(name);
    writeFileSync(join(folder, "go"), "");
    await expectKilledRunToGoOn({ outputDir: folder });
  });
});

test("a file that is of no known form is left as it was", async () => {
  loadDump("sqlite-v1-first.sql");
  const db = new DatabaseSync(file);
  db.exec("CREATE TABLE failure_handler (other TEXT)");
  db.close();
  const before = schemaOf();
  await expect(openSqliteStore({ file })).rejects.toMatchObject({ code: "STORE_FAILED" });
  expect(schemaOf()).toEqual(before);
  expect(readAll("SELECT version FROM schema_version")).toEqual([{ version: 1 }]);
});
