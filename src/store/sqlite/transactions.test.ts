import { DatabaseSync } from "@photostructure/sqlite";
import { beforeEach, describe, expect, test } from "vitest";
import { DarumaError } from "../../core/errors/errors.js";
import type { Database } from "./sqlite-driver.js";
import { Transactions } from "./transactions.js";

let db: Database;
let transactions: Transactions;

beforeEach(() => {
  db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE note (text TEXT NOT NULL UNIQUE)");
  transactions = new Transactions(db);
});

const write = (text: string) => () => {
  db.prepare("INSERT INTO note (text) VALUES (?)").run(text);
  return text;
};

const notes = () =>
  db
    .prepare("SELECT text FROM note ORDER BY rowid")
    .all()
    .map(({ text }) => text);

describe("pieces of writing that wait together", () => {
  test("are written in their order, each with its answer", () => {
    expect(transactions.runAll([write("a"), write("b")])).toEqual([{ value: "a" }, { value: "b" }]);
    expect(notes()).toEqual(["a", "b"]);
    expect(db.isTransaction).toBe(false);
  });

  test("share one transaction", () => {
    let other = 0;
    const look = () => {
      other = notes().length;
      return db.isTransaction;
    };
    expect(transactions.runAll([write("a"), write("b"), look])).toMatchObject([{}, {}, { value: true }]);
    expect(other).toBe(2);
  });

  test("a refused one is undone whole and takes nothing else with it", () => {
    const refusal = new DarumaError("LEASE_LOST", "stale");
    const half = () => {
      write("half")();
      throw refusal;
    };
    const outcomes = transactions.runAll([write("a"), half, write("b")]);
    expect(outcomes).toEqual([{ value: "a" }, { error: refusal }, { value: "b" }]);
    expect(notes()).toEqual(["a", "b"]);
  });

  test("when the database fails in one, the others are written all the same", () => {
    const outcomes = transactions.runAll([write("a"), write("a"), write("b")]);
    expect(outcomes).toMatchObject([{ value: "a" }, { error: { errcode: 2067 } }, { value: "b" }]);
    expect(notes()).toEqual(["a", "b"]);
    expect(db.isTransaction).toBe(false);
  });
});

test("a piece that fails alone leaves nothing behind", () => {
  const half = () => {
    write("half")();
    throw new Error("broken");
  };
  expect(transactions.runAll([half])).toMatchObject([{ error: { message: "broken" } }]);
  expect(notes()).toEqual([]);
  expect(db.isTransaction).toBe(false);
});
