import { DatabaseSync } from "@photostructure/sqlite";
import { beforeEach, expect, test } from "vitest";
import type { JobFilter, RunFilter } from "../filters.js";
import { findRuns } from "../verbs/run.js";
import { DIALECT, toCell, toText } from "./answer-now.js";
import { FIND_CLAIMABLE_RUNS } from "./lease-verbs.js";
import { LIST_OWNERS, pieceOf, piecesOfEvents, piecesOfJobs } from "./read-verbs.js";
import { hasSchema, prepareSchema } from "./schema.js";
import { MEMBERS_OF_QUEUES } from "./slot-verbs.js";
import type { Database } from "./sqlite-driver.js";

let db: Database;

beforeEach(() => {
  db = new DatabaseSync(":memory:");
  prepareSchema(db, "f");
});

test("a file that has its tables is not written", () => {
  db.exec("PRAGMA query_only = ON");
  prepareSchema(db, "f");
  expect(hasSchema(db, "f")).toBe(true);
});

test("what cannot be made whole leaves the file empty", () => {
  const full = new DatabaseSync(":memory:");
  full.exec("PRAGMA max_page_count = 20");
  expect(() => prepareSchema(full, "f")).toThrow("full");
  expect(hasSchema(full, "f")).toBe(false);
  expect(full.isTransaction).toBe(false);
});

test("events of a job are found by it, damaged ones by none", () => {
  const add = (seq: number, data: string) =>
    db.prepare("INSERT INTO event (run_id, seq, at, type, data) VALUES (1, ?, 5, 't', ?)").run(seq, data);
  add(1, '{"type":"t","job":7}');
  add(2, "{damaged");
  add(3, '{"type":"t","jobs":[7]}');
  add(4, '{"type":"t","job":8}');
  const source = piecesOfEvents(1, { job: 7 });
  const [found] = db.prepare(pieceOf(source)).all(...source.cells, 0, 9) as { [column: string]: string }[];
  expect(JSON.parse(Object.values(found!)[0]!)).toEqual([{ seq: 1, at: 5, event: { type: "t", job: 7 } }]);
});

test("failure handlers go with their workflow, and jobs that named them name none", () => {
  db.exec(`
    PRAGMA foreign_keys = ON;
    INSERT INTO definition (hash, json) VALUES ('h', '{}');
    INSERT INTO workflow VALUES (1, 'w', 1, 'h', NULL, 0, NULL);
    INSERT INTO failure_handler (workflow_id, name, rules) VALUES (1, 'recover', '[]');
    INSERT INTO job (id, run_id, step, scope, status, attempt_id, visit, handled, failure_handler_id)
      VALUES (5, 1, 's', 'root', 'ready', 0, 1, 0, 1);
    DELETE FROM workflow`);
  expect(db.prepare("SELECT id FROM failure_handler").all()).toEqual([]);
  expect(db.prepare("SELECT failure_handler_id AS handler FROM job").get()).toEqual({ handler: null });
});

test("runs that want an engine are found without reading all runs", () => {
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
  const source = piecesOfJobs({ status: ["waiting"] });
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
  const { rest, values } = findRuns(DIALECT, { ...filter, limit: 21 });
  const plan = db.prepare(toText(`EXPLAIN QUERY PLAN SELECT * FROM run ${rest}`));
  const steps = plan.all(...values.map(toCell)) as { detail: string }[];
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
  const source = piecesOfJobs(filter);
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${pieceOf(source)}`).all(...source.cells, 7, 1);
  const details = plan.map(({ detail }) => detail);
  expect(details).toContainEqual(expect.stringContaining(index));
  expect(details).not.toContainEqual(expect.stringMatching(/SCAN (run|attempt|run_label|job)$/));
});

test("a run is found by its cause", () => {
  const plan = db.prepare("EXPLAIN QUERY PLAN SELECT id FROM run WHERE cause = ? ORDER BY id DESC LIMIT ?");
  expect(plan.all("x", 1)).toMatchObject([{ detail: expect.stringContaining("INDEX run_by_cause") }]);
});

test("dead letters are found without reading all jobs", () => {
  const source = piecesOfJobs({ deadLetter: true });
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${pieceOf(source)}`).all(...source.cells, 7, 1);
  expect(plan.map(({ detail }) => detail)).toContainEqual(
    expect.stringContaining("USING INDEX job_dead_letter"),
  );
});

test("the events of one job are found without reading the others of its run", () => {
  const source = piecesOfEvents(1, { job: 7 });
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${pieceOf(source)}`).all(...source.cells, 0, 1);
  expect(plan.map(({ detail }) => detail)).toContainEqual(
    expect.stringContaining("SEARCH event USING INDEX event_by_job (run_id=? AND <expr>=? AND seq>?)"),
  );
});

test("child runs of a job are found without reading all runs", () => {
  const plan = db.prepare(
    "EXPLAIN QUERY PLAN SELECT id FROM run WHERE parent_job_id = ? ORDER BY id DESC LIMIT ?",
  );
  expect(plan.all(1, 1)).toMatchObject([
    { detail: expect.stringContaining("USING COVERING INDEX run_by_parent") },
  ]);
});
