import { DatabaseSync } from "@photostructure/sqlite";
import { beforeEach, expect, test } from "vitest";
import type { JobFilter, RunFilter } from "../filters.js";
import { pieceOf } from "./json-pieces.js";
import { FIND_CLAIMABLE_RUNS } from "./lease-writes.js";
import { MIGRATIONS, migrate, readVersion } from "./migrations.js";
import { MEMBERS_OF_QUEUES } from "./place-verbs.js";
import { findEvents, LIST_OWNERS } from "./read-verbs.js";
import { findJobs, findRuns } from "./search-queries.js";
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
    INSERT INTO definition (hash, json) VALUES ('h', '{}');
    INSERT INTO workflow VALUES (1, 'w', 1, 'h', NULL, 0, NULL);
    INSERT INTO failure_handler (workflow_id, name, rules) VALUES (1, 'recover', '[]');
    INSERT INTO job VALUES (5, 1, 's', 'root', 'ready', 0, 1, 0, NULL, NULL, NULL, 1, 0, 0);
    DELETE FROM workflow`);
  expect(db.prepare("SELECT id FROM failure_handler").all()).toEqual([]);
  expect(db.prepare("SELECT failure_handler_id AS handler FROM job").get()).toEqual({ handler: null });
});

test("a file of version 1 keeps its rows, which are of runs that no server goes on with", () => {
  migrate(db, "f", MIGRATIONS.slice(0, 1));
  db.exec(`
    INSERT INTO definition VALUES ('h', '{}');
    INSERT INTO workflow VALUES (1, 'w', 1, 'h', '/w.yaml', 5);
    INSERT INTO run VALUES (3, 1, 'w', 'h', 'running', '{}', '{}', '/', NULL, NULL, NULL, NULL, 1, NULL, NULL)`);
  migrate(db, "f");
  expect(readVersion(db, "f", MIGRATIONS.length)).toBe(MIGRATIONS.length);
  expect(db.prepare("SELECT id, file, source FROM workflow").get()).toEqual({
    ...{ id: 1, file: "/w.yaml", source: null },
  });
  expect(db.prepare("SELECT id, managed, wanted FROM run").get()).toEqual({ id: 3, managed: 0, wanted: 0 });
});

test("runs that want an engine are found without reading all runs", () => {
  migrate(db, "f");
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${FIND_CLAIMABLE_RUNS}`).all(1, "[]", "[]", 1);
  const found = plan.map(({ detail }) => String(detail)).filter((detail) => /run|lease/.test(detail));
  expect(found).toEqual([
    "SEARCH run USING INTEGER PRIMARY KEY (rowid=?)",
    "SCAN run USING COVERING INDEX run_wanted",
    "SEARCH run USING COVERING INDEX run_wanted_at (wanted_at<?)",
    "SEARCH lease USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
  ]);
  const owners = db.prepare(`EXPLAIN QUERY PLAN ${LIST_OWNERS}`).all();
  expect(owners.map(({ detail }) => String(detail)).filter((detail) => /run_|lease/.test(detail))).toEqual([
    "SCAN run USING COVERING INDEX run_wanted",
    "SEARCH run USING COVERING INDEX run_wanted_at (wanted_at>?)",
    "SEARCH run USING INDEX run_in_group (concurrency_group>?)",
    "SEARCH lease USING INTEGER PRIMARY KEY (rowid=?)",
  ]);
  const queues = db.prepare(`EXPLAIN QUERY PLAN ${MEMBERS_OF_QUEUES}`).all();
  for (const { detail } of queues.filter((each) => /SCAN|SEARCH run/.test(String(each.detail))))
    expect(detail).toContain("run_in_group");
});

test("jobs that are not settled are found by way of the runs that are not over", () => {
  migrate(db, "f");
  const source = findJobs({ status: ["waiting"] }, true);
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${pieceOf(source)}`);
  const steps = plan.all(...source.cells, 7, 1) as { detail: string }[];
  const tables = steps.map(({ detail }) => detail).filter((detail) => /run_by_status|job/.test(detail));
  expect(tables).toEqual([
    expect.stringContaining("SEARCH run USING COVERING INDEX run_by_status"),
    expect.stringContaining("SEARCH job USING INDEX job_by_run (run_id=?"),
  ]);
});

test.each<[string, RunFilter, string]>([
  ["status", { status: ["failed"] }, "COVERING INDEX run_by_status (status=?)"],
  ["workflow", { workflow: "w" }, "COVERING INDEX run_by_workflow (workflow=?)"],
  ["since", { since: 5 }, "COVERING INDEX run_by_creation (created_at>? AND created_at<?)"],
  ["until", { until: 5 }, "COVERING INDEX run_by_creation (created_at>? AND created_at<?)"],
  ["a label", { labels: [{ key: "a", value: "b" }] }, "run_label USING PRIMARY KEY (key=? AND value=?)"],
  ["the key of a label", { labels: [{ key: "a", value: null }] }, "run_label USING PRIMARY KEY (key=?)"],
  ["text", { text: "x" }, "SCAN run USING COVERING INDEX run_text"],
  ["text of failures", { text: "x" }, "attempt USING COVERING INDEX attempt_failed"],
  ["signature", { signature: "v1:a" }, "COVERING INDEX attempt_failed (signature>? AND signature<?)"],
])("runs are found by %s in an index, and their rows are read for one page only", (_, filter, index) => {
  migrate(db, "f");
  const { sql, cells } = findRuns(filter);
  const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...cells, 21) as { detail: string }[];
  const details = steps.map(({ detail }) => detail);
  expect(details).toContainEqual(expect.stringContaining(index));
  expect(details).not.toContainEqual(expect.stringMatching(/SCAN (run|attempt|run_label|job)$/));
});

test.each<[string, JobFilter, string]>([
  [
    "the labels of their runs",
    { labels: [{ key: "a", value: "b" }] },
    "run_label USING PRIMARY KEY (key=? AND value=?)",
  ],
  ["the time of their runs", { since: 5 }, "COVERING INDEX run_by_creation (created_at>?)"],
  ["the workflow of their runs", { workflow: "w" }, "COVERING INDEX run_by_workflow (workflow=?)"],
  ["signature", { signature: "v1:a" }, "COVERING INDEX attempt_failed (signature>? AND signature<?)"],
])("jobs are found by %s in an index", (_, filter, index) => {
  migrate(db, "f");
  const source = findJobs(filter, false);
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${pieceOf(source)}`).all(...source.cells, 7, 1);
  const details = plan.map(({ detail }) => detail);
  expect(details).toContainEqual(expect.stringContaining(index));
  expect(details).not.toContainEqual(expect.stringMatching(/SCAN (run|attempt|run_label|job)$/));
});

test("a file of version 11 keeps its runs and attempts, which are found by what they say", () => {
  migrate(db, "f", MIGRATIONS.slice(0, 11));
  const error = JSON.stringify({ code: "EXIT_1", message: "Connection refused", signature: "v1:ab" });
  db.prepare(
    "INSERT INTO run VALUES (3, 1, 'Nightly', 'h', 'failed', '{}', '{}', '/', NULL, NULL, NULL, ?, 1, NULL, NULL, 0, 0, NULL)",
  ).run(error);
  const attempt = db.prepare(
    "INSERT INTO attempt VALUES (?, 1, 3, 1, 'w', 't', ?, 1, 2, ?, NULL, NULL, NULL)",
  );
  attempt.run(31, "failed", error);
  attempt.run(32, "failed", "{damaged");
  attempt.run(33, "succeeded", null);
  migrate(db, "f");
  const says = "exit_1: connection refused";
  expect(db.prepare("SELECT labels, search_text FROM run").get()).toEqual({
    ...{ labels: null, search_text: `nightly ${says}` },
  });
  expect(db.prepare("SELECT signature, search_text FROM attempt ORDER BY job_id").all()).toEqual([
    { signature: "v1:ab", search_text: says },
    { signature: null, search_text: null },
    { signature: null, search_text: null },
  ]);
});

test("a file of version 2 keeps its jobs, none of which is a dead letter", () => {
  migrate(db, "f", MIGRATIONS.slice(0, 2));
  db.exec("INSERT INTO job VALUES (5, 1, 's', 'root', 'failed', 1, 1, 0, NULL, NULL, NULL, NULL)");
  migrate(db, "f");
  expect(db.prepare("SELECT id, dead_letter FROM job").get()).toEqual({ id: 5, dead_letter: 0 });
});

test("a file of version 3 keeps its runs, none of which has a cause, and a run is found by its cause", () => {
  migrate(db, "f", MIGRATIONS.slice(0, 3));
  db.exec(
    "INSERT INTO run VALUES (3, 1, 'w', 'h', 'running', '{}', '{}', '/', NULL, NULL, NULL, NULL, 1, NULL, NULL, 0, 0)",
  );
  migrate(db, "f");
  expect(db.prepare("SELECT id, cause FROM run").get()).toEqual({ id: 3, cause: null });
  const plan = db.prepare("EXPLAIN QUERY PLAN SELECT id FROM run WHERE cause = ? ORDER BY id DESC LIMIT ?");
  expect(plan.all("x", 1)).toMatchObject([{ detail: expect.stringContaining("INDEX run_by_cause") }]);
});

test("dead letters are found without reading all jobs", () => {
  migrate(db, "f");
  const source = findJobs({ deadLetter: true }, false);
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${pieceOf(source)}`).all(...source.cells, 7, 1);
  expect(plan.map(({ detail }) => detail)).toContainEqual(
    expect.stringContaining("USING INDEX job_dead_letter"),
  );
});

test("the events of one job are found without reading the others of its run", () => {
  migrate(db, "f");
  const source = findEvents(1, { job: 7 });
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${pieceOf(source)}`).all(...source.cells, 0, 1);
  expect(plan.map(({ detail }) => detail)).toContainEqual(
    expect.stringContaining("SEARCH event USING INDEX event_by_job (run_id=? AND <expr>=? AND seq>?)"),
  );
});

test("a file of version 7 finds the events of a job that were written before, and those an older process adds", () => {
  migrate(db, "f", MIGRATIONS.slice(0, 7));
  const add = (seq: number, data: string) =>
    db.prepare("INSERT INTO event (run_id, seq, at, type, data) VALUES (1, ?, 5, 't', ?)").run(seq, data);
  add(1, '{"type":"t","job":7}');
  add(2, "{damaged");
  add(3, '{"type":"t","jobs":[7]}');
  migrate(db, "f");
  add(4, '{"type":"t","job":7}');
  add(5, '{"type":"t","job":8}');
  add(6, "{damaged");
  const source = findEvents(1, { job: 7 });
  const [found] = db.prepare(pieceOf(source)).all(...source.cells, 0, 9) as { [column: string]: string }[];
  expect(JSON.parse(Object.values(found!)[0]!)).toEqual([
    { seq: 1, at: 5, event: { type: "t", job: 7 } },
    { seq: 4, at: 5, event: { type: "t", job: 7 } },
  ]);
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
