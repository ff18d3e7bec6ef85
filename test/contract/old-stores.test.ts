import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLocalClient } from "../../src/host/local-client.js";
import { MIGRATIONS, migrate } from "../../src/store/sqlite/migrations.js";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import { expectKilledRunToGoOn } from "../support/killed-run.js";

/**
 * Each dump was made by a build of its time: run 1 had ended, run 2 was at its step `long` when the process was killed.
 * `sqlite-v8` to `sqlite-v17` are the dump of version 7 with what came with these versions; those of later versions are made from the last dump by the
 * migrations of their time, which their checksums guard. `sqlite-v3-from-first` is of the first form of version 1, marked as version 3 by a build that could not use it then.
 */
const DUMPS = new URL("../fixtures/stores/", import.meta.url).pathname;
const TABLES = ["workflow", "run", "event", "job", "attempt", "route", "lease", "inbox"];

const DUMPED = readdirSync(DUMPS).map((name) => ({ name, dump: name, version: versionOf(name) }));
const LAST_DUMP = Math.max(...DUMPED.map(({ version }) => version));
const LATER = MIGRATIONS.slice(LAST_DUMP, -1).map(({ version }) => ({
  ...{ name: `version ${version}`, dump: `sqlite-v${LAST_DUMP}.sql`, version },
}));

function versionOf(name: string): number {
  return Number(/^sqlite-v(\d+)/.exec(name)?.[1]);
}

let folder = "";
let file = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-old-"));
  file = join(folder, "daruma.db");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As the file lay there after the kill; its leases have run out since, its paths are those of this folder. */
function loadDump(name: string, version = versionOf(name)): void {
  const dump = readFileSync(join(DUMPS, name), "utf8").replaceAll("@FOLDER@", folder);
  const db = new DatabaseSync(file);
  db.exec(dump);
  if (version > LAST_DUMP) migrate(db, file, MIGRATIONS.slice(0, version));
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

test("there is a store of every schema but the newest", () => {
  const versions = [...DUMPED, ...LATER].map(({ version }) => version);
  expect(new Set(versions)).toEqual(new Set(MIGRATIONS.slice(0, -1).map(({ version }) => version)));
});

describe.each([...DUMPED, ...LATER])("$name", ({ dump, version }) => {
  test("opens with every row it had and the tables of a new file", async () => {
    await (await openSqliteStore({ file })).close();
    const fresh = schemaOf();
    rmSync(file);
    loadDump(dump, version);
    expect(readAll("SELECT version FROM schema_version")).toEqual([{ version }]);
    const before = rowsOf();
    await (await openSqliteStore({ file })).close();
    expect(schemaOf()).toEqual(fresh);
    expect(rowsOf()).toEqual(before);
    expect(readAll("SELECT version FROM schema_version")).toEqual([{ version: MIGRATIONS.length }]);
    expect(readAll("PRAGMA foreign_key_check")).toEqual([]);
  });

  test("its killed run goes on where it was, to its end", async () => {
    loadDump(dump, version);
    writeFileSync(join(folder, "go"), "");
    await expectKilledRunToGoOn({ outputDir: folder });
  });

  test("its logs are shown where they were written, also of the run that goes on, and go with their run", {
    tags: ["D5"],
  }, async () => {
    loadDump(dump, version);
    const logs = join(folder, "output", "job_stdio");
    mkdirSync(logs, { recursive: true });
    const rows = readAll<{ run_id: number; workflow_id: number; job_id: number; attempt: number }>(
      "SELECT attempt.run_id, run.workflow_id, job_id, attempt FROM attempt JOIN run ON run.id = attempt.run_id",
    );
    for (const { run_id, workflow_id, job_id, attempt } of rows)
      writeFileSync(
        join(logs, `job_wf${workflow_id}_j${job_id}_r${run_id}_a${attempt}.o`),
        `${job_id} ${attempt}`,
      );
    const client = openLocalClient({ outputDir: folder });
    for (const { job_id, attempt } of rows)
      expect((await client.call("get_job_logs", { job_id, attempt, stream: "stdout" })).text).toBe(
        `${job_id} ${attempt}`,
      );
    const { removed } = await client.call("prune_runs", { older_than: "0s" });
    await client.close();
    expect(removed.map(({ run_id }) => run_id)).toEqual([1]);
    expect(readdirSync(logs).filter((name) => name.includes("_r1_"))).toEqual([]);
    expect(readdirSync(logs)).toHaveLength(rows.filter(({ run_id }) => run_id === 2).length);
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
