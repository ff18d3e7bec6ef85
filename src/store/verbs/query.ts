import { setEach, toJsonRows } from "../json-rows.js";
import { columnsOf, readRow, type Table } from "../tables.js";
import type { Dialect } from "./dialect.js";

/** A value for a statement. JSON is text; lists and bytes are written in the database's notation. */
export type Value = string | number | boolean | null | Uint8Array | readonly (string | number)[];

export interface Query {
  readonly text: string;
  readonly values: readonly Value[];
}

/**
 * A verb of the port as a generator of queries. The caller that executes them knows whether to wait: SQLite answers at
 * once, PostgreSQL later.
 */
export type Verb<T> = Generator<Query, T, readonly object[]>;

export function* rows<Row extends object>(text: string, ...values: readonly Value[]): Verb<readonly Row[]> {
  return (yield { text, values }) as readonly Row[];
}

export function* row<Row extends object>(text: string, ...values: readonly Value[]): Verb<Row | null> {
  return (yield* rows<Row>(text, ...values))[0] ?? null;
}

/** Reads rows of a table in the port's form. `rest` follows the table's name. */
export function* rowsOf<Row>(table: Table<Row>, rest: string, ...values: readonly Value[]): Verb<Row[]> {
  const text = `SELECT ${columnsOf(table)} FROM ${table.name} ${rest}`;
  const found = yield* rows<{ readonly [column: string]: unknown }>(text, ...values);
  return found.map((stored) => readRow(table, ({ name }) => stored[name]));
}

export function* rowOf<Row>(table: Table<Row>, rest: string, ...values: readonly Value[]): Verb<Row | null> {
  return (yield* rowsOf(table, rest, ...values))[0] ?? null;
}

/** Writes rows. In existing ones these columns are replaced; without any they are not changed. */
export function* put<Row extends object>(
  { given }: Dialect,
  table: Table<Row>,
  written: readonly Row[],
  replaced: readonly string[] = table.replaced,
): Verb<void> {
  const json = toJsonRows(table, written);
  if (json === null) return;
  yield* rows(
    `INSERT INTO ${table.name} (${columnsOf(table)}) ${given(table, "$1")}
     ON CONFLICT (${table.key.join(", ")}) DO ${replaced.length === 0 ? "NOTHING" : `UPDATE SET ${setEach(replaced)}`}`,
    json,
  );
}

/** The present time on the clock that all users of the store share, given the caller's time. */
export function* instant({ clock }: Dialect, now: number): Verb<number> {
  return clock === null ? now : ((yield* row<{ at: number }>(clock))?.at ?? now);
}

export function answerNow<T>(verb: Verb<T>, ask: (query: Query) => readonly object[]): T {
  for (let step = verb.next([]); ; ) {
    if (step.done) return step.value;
    step = verb.next(ask(step.value));
  }
}

export async function answerLater<T>(
  verb: Verb<T>,
  ask: (query: Query) => Promise<readonly object[]>,
): Promise<T> {
  for (let step = verb.next([]); ; ) {
    if (step.done) return step.value;
    step = verb.next(await ask(step.value));
  }
}
