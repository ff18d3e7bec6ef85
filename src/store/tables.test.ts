import { expect, test } from "vitest";
import { runRow } from "../../test/contract/store-fixtures.js";
import type { RunRow } from "../core/model/rows.js";
import { readRow, storedValue, TABLES } from "./tables.js";

const RUN: RunRow = runRow(7, {
  inputs: { target: "staging" },
  parent: { run_id: 3, job_id: 30_000_001 },
  managed: true,
});
const { columns } = TABLES.run;
const cellsOf = (row: RunRow) => columns.map((column) => storedValue(column, row));

test.each([RUN, { ...RUN, parent: null }])("a row is read as it was written: %o", (row) => {
  const cells = cellsOf(row);
  expect(readRow(TABLES.run, (_, place) => cells[place])).toEqual(row);
});

test("a field of two parts takes two columns", () => {
  const names = columns.filter(({ field }) => field === "parent").map(({ name }) => name);
  expect(names).toEqual(["parent_run_id", "parent_job_id"]);
});

const KEPT = ["id", "cause", "labels", "concurrency_group", "group_limit", "group_policy", "priority"];

test("a new version of a row replaces neither its key nor what it keeps", () => {
  expect(TABLES.run.replaced).toEqual(columns.map(({ name }) => name).filter((name) => !KEPT.includes(name)));
  expect(TABLES.attempt.replaced).not.toContain("job_id");
  expect(TABLES.route.replaced).toEqual([]);
});

test("JSON that is damaged is named with its column and row", () => {
  const cells = cellsOf(RUN).map((cell) => (cell === '{"target":"staging"}' ? "{oops" : cell));
  expect(() => readRow(TABLES.run, (_, place) => cells[place])).toThrow(
    "the column inputs of run 7 in the table run is not valid JSON",
  );
});

test("a shape says how its field is kept", () => {
  const kinds = Object.fromEntries(columns.map(({ name, kind }) => [name, kind]));
  expect(kinds).toMatchObject({ id: "plain", managed: "mark", labels: "json", parent_job_id: "plain" });
  expect(TABLES.route.columns.find(({ name }) => name === "reason")?.kind).toBe("free_text");
  expect(TABLES.book.columns.find(({ name }) => name === "owner")?.kind).toBe("free_text");
});
