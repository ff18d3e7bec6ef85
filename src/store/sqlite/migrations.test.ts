import { DatabaseSync } from "@photostructure/sqlite";
import { beforeEach, expect, test } from "vitest";
import { MIGRATIONS, migrate, readVersion } from "./migrations.js";
import type { Database } from "./sqlite-driver.js";

let db: Database;

beforeEach(() => {
  db = new DatabaseSync(":memory:");
});

const ONE = { version: 1, sql: "CREATE TABLE one (a)" };
const TWO = { version: 2, sql: "CREATE TABLE two (a); ALTER TABLE one ADD COLUMN b" };
const BROKEN = { version: 2, sql: "CREATE TABLE two (a); CREATE TABLE one (a)" };

const tables = () =>
  db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => name);

test("versions are numbered from 1 without a gap", () => {
  expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, i) => i + 1));
});

test("a file of an older version gets only what it lacks", () => {
  migrate(db, "f", [ONE]);
  migrate(db, "f", [ONE, TWO]);
  expect(tables()).toEqual(["one", "schema_version", "two"]);
  expect(readVersion(db, "f", 2)).toBe(2);
});

test("a file that is up to date is not written", () => {
  migrate(db, "f", [ONE]);
  db.exec("PRAGMA query_only = ON");
  migrate(db, "f", [ONE]);
});

test("a migration that fails leaves the file as it was", () => {
  migrate(db, "f", [ONE]);
  expect(() => migrate(db, "f", [ONE, BROKEN])).toThrow("one");
  expect(tables()).toEqual(["one", "schema_version"]);
  expect(readVersion(db, "f", 2)).toBe(1);
  expect(db.isTransaction).toBe(false);
});

test("a version that is not known yet is refused", () => {
  migrate(db, "f", [ONE, TWO]);
  expect(() => migrate(db, "f", [ONE])).toThrow("version 2");
});

test("failure handlers go with their workflow, and jobs that named them name none", () => {
  migrate(db, "f");
  db.exec(`
    PRAGMA foreign_keys = ON;
    INSERT INTO definition VALUES ('h', '{}');
    INSERT INTO workflow VALUES (1, 'w', 1, 'h', NULL, 0);
    INSERT INTO failure_handler (workflow_id, name, rules) VALUES (1, 'recover', '[]');
    INSERT INTO job VALUES (5, 1, 's', 'root', 'ready', 0, 1, 0, NULL, NULL, NULL, 1);
    DELETE FROM workflow`);
  expect(db.prepare("SELECT id FROM failure_handler").all()).toEqual([]);
  expect(db.prepare("SELECT failure_handler_id AS handler FROM job").get()).toEqual({ handler: null });
});

test("child runs of a job are found without reading all runs", () => {
  migrate(db, "f");
  const plan = db.prepare(
    "EXPLAIN QUERY PLAN SELECT id FROM run WHERE parent_job_id = ? ORDER BY id DESC LIMIT ?",
  );
  expect(plan.all(1, 1)).toMatchObject([
    { detail: expect.stringContaining("USING COVERING INDEX run_by_parent") },
  ]);
});
