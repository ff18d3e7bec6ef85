import { answerNow, type Dialect, type Value } from "../verbs/query.js";
import { type AnyVerb, each, type Now, READS, WRITES } from "../verbs/verbs.js";
import type { Cell, Database, Statement } from "./sqlite-driver.js";

const DIALECT: Dialect = { each: (list) => `SELECT value FROM json_each(${list})` };

export function createColdReads(db: Database): Now<typeof READS> {
  return each(READS, answering(db));
}

export function createColdWrites(db: Database): Now<typeof WRITES> {
  return each(WRITES, answering(db));
}

/** Statements are prepared when they are first needed, and kept. */
function answering(db: Database) {
  const kept = new Map<string, Statement>();
  const ask = ({ text, values }: { readonly text: string; readonly values: readonly Value[] }) => {
    const statement = kept.get(text) ?? db.prepare(text.replace(/\$(\d)/g, "?$1"));
    kept.set(text, statement);
    return statement.all(...values.map(toCell)).map((row) => ({ ...(row as object) }));
  };
  return (verb: AnyVerb) =>
    (...args: unknown[]) =>
      answerNow(verb(DIALECT, ...args), ask);
}

function toCell(value: Value): Cell {
  return typeof value === "boolean" ? Number(value) : value;
}
