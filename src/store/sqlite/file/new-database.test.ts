import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { threadEntry } from "../../thread-entry.js";
import { prepareSchema } from "../schema.js";
import type { Database } from "../sqlite-driver.js";
import { copyEmptyDatabase, EMPTY_DATABASE } from "./new-database.js";

const BUILT = threadEntry(import.meta.url, `./${EMPTY_DATABASE}`);
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-test-"));
  file = join(folder, "daruma.db");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The schema, and every row of every table. */
function contentOf(db: Database): unknown {
  const schema = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
  const tables = schema.filter(({ type }) => type === "table").map(({ name }) => String(name));
  return { schema, rows: tables.map((name) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]) };
}

it("what the build brings is what opening an empty file makes, with a write-ahead log", () => {
  const made = new DatabaseSync(":memory:");
  prepareSchema(made, "f");
  expect(copyEmptyDatabase(file, BUILT)).toBe(true);
  const copied = new DatabaseSync(file);
  expect(contentOf(copied)).toEqual(contentOf(made));
  expect(copied.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  copied.close();
});

it("belongs to the user alone and leaves nothing else behind", () => {
  expect(copyEmptyDatabase(file, BUILT)).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["daruma.db"]);
});

it("leaves the database alone that another process has made meanwhile", () => {
  writeFileSync(file, "of another process");
  expect(copyEmptyDatabase(file, BUILT)).toBe(false);
  expect(readFileSync(file, "utf8")).toBe("of another process");
  expect(readdirSync(folder)).toEqual(["daruma.db"]);
});

it("does nothing where the build is missing", () => {
  expect(copyEmptyDatabase(file, new URL("./none.db", BUILT))).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});
