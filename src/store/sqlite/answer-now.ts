import { toStorableText } from "../stored-text.js";

import { answerNow, type Dialect, type Query, type Value } from "../verbs/dialect.js";
import {
  type AnyVerb,
  type ColdReads,
  type ColdWrites,
  each,
  LISTS,
  PUTS,
  READS,
  WRITES,
} from "../verbs/verbs.js";
import { EVENT_JOB } from "./schema.js";
import type { Cell, Database, Statement } from "./sqlite-driver.js";

export const DIALECT: Dialect = {
  among: (column, list) => `${column} IN (SELECT value FROM json_each(${list}))`,
  // The condition is needed, because SQLite could otherwise take the upsert after it for a join.
  given: (table, json) => {
    const fields = table.columns.map(({ name }) => `value ->> '$.${name}'`);
    return `SELECT ${fields.join(", ")} FROM json_each(${json}) WHERE true`;
  },
  records: (json, columns) => {
    const fields = Object.keys(columns).map((name) => `value ->> '$.${name}' AS ${name}`);
    return `SELECT ${fields.join(", ")} FROM json_each(${json})`;
  },
  lock: "",
  join: "CROSS JOIN",
  eventJob: EVENT_JOB,
  field: (...names) => `data ->> '$.${names.join(".")}'`,
  isNotOk: "data ->> '$.ok' = 0",
  decided: {
    jobs: "json_each(coalesce(data -> '$.jobs', json_array(data -> '$.job'))) AS decided",
    // Without a type, so that the index by job is used.
    job: "decided.value",
  },
  position: (text, sought) => `instr(${text}, ${sought})`,
  lower: (text) => `lower(${text})`,
  indexed: (index) => `INDEXED BY ${index}`,
  // Some releases of Node return an empty value as null.
  bytes: { write: (value) => `coalesce(${value}, x'')`, read: (column) => column },
  clock: null,
};

export function createColdReads(db: Database): ColdReads {
  return each({ ...READS, ...LISTS }, answering(db)) as unknown as ColdReads;
}

export function createColdWrites(db: Database): ColdWrites {
  return each({ ...PUTS, ...WRITES }, answering(db)) as unknown as ColdWrites;
}

/** Prepares statements when they are first needed, and keeps them. */
function answering(db: Database) {
  const kept = new Map<string, Statement>();
  const ask = ({ text, values }: Query) => {
    const statement = kept.get(text) ?? db.prepare(toText(text));
    kept.set(text, statement);
    return statement.all(...values.map(toCell)).map((row) => ({ ...(row as object) }));
  };
  return (verb: AnyVerb) =>
    (...args: unknown[]) =>
      answerNow(verb(DIALECT, ...args), ask);
}

/** Rewrites placeholders, which SQLite writes as `?1`. */
export function toText(text: string): string {
  return text.replace(/\$(\d)/g, "?$1");
}

export function toCell(value: Value): Cell | Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === "string") return toStorableText(value);
  if (typeof value === "boolean") return Number(value);
  return typeof value === "object" && value !== null
    ? JSON.stringify(value.map((each) => (typeof each === "string" ? toStorableText(each) : each)))
    : value;
}
