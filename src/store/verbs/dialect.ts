import type { RunSearch } from "../filters.js";
import { setEach, toJsonRows } from "../json-rows.js";
import { columnsOf, readRow, type Table } from "../tables.js";

/** The differences between the databases. Values are written as `$1`, by position. */
export interface Dialect {
  /** Tests whether a column has one of the values of a list. */
  among(column: string, list: string, of: "text" | "bigint"): string;
  /** Rows, given as JSON, with these columns and types. */
  records(json: string, columns: { readonly [column: string]: string }): string;
  /** A query for rows of a table that are given as JSON. */
  given(table: Pick<Table<never>, "name" | "columns">, json: string): string;
  /** Converts bytes when they are written to a column or read from it. */
  readonly bytes: { write(value: string): string; read(column: string): string };
  /** Locks a row that is read until the transaction ends. */
  readonly lock: string;
  /** Keeps the order of joined tables, where the planner needs to be told. */
  readonly join: string;
  /** The job of an event, as its index defines it. */
  readonly eventJob: string;
  /** A field of an event, by the path to it. */
  field(...names: readonly string[]): string;
  readonly isNotOk: string;
  /** The jobs of a decision as rows, and how to read one of them. */
  readonly decided: { readonly jobs: string; readonly job: string };
  /** The position of a text in another; 0 if it is not contained. */
  position(text: string, sought: string): string;
  /** Converts ASCII letters to lower case. */
  lower(text: string): string;
  /** Names the index to use after a table's name, where the planner needs to be told. */
  indexed(index: string): string;
  /** A query for the time; null if the caller's time counts. */
  readonly clock: string | null;
}

/** The rule of `writtenStep` as SQL. */
export const WRITTEN_STEP = "coalesce(job.family, job.step)";
/** Matches a step, or every step of a family. A family's name has braces, so no step has the same name. */
export const IS_OF_STEP = "? IN (job.step, job.family)";
export const NOT_IMPORTED = `run.options NOT LIKE '%"imported":true%'`;

/** Conditions that apply only if there is a value for them; `?` stands for the value. */
export class Conditions {
  readonly values: Value[] = [];
  readonly #texts: string[] = [];

  constructor(private readonly dialect: Dialect) {}

  demand(condition: string, value: Value | undefined): this {
    return value === undefined ? this : this.demandAll(condition, value);
  }

  /** Adds a condition with several values, each at its `?`. */
  demandAll(condition: string, ...values: readonly Value[]): this {
    this.values.push(...values);
    let place = this.values.length - values.length;
    this.#texts.push(condition.replaceAll("?", () => `$${++place}`));
    return this;
  }

  demandOneOf(column: string, values: readonly (string | number)[] | undefined, of: "text" | "bigint"): this {
    return this.demand(this.dialect.among(column, "?", of), values);
  }

  /** Adds a condition without a value, as a partial index needs it. */
  demandIf(isDemanded: boolean, condition: string): this {
    if (isDemanded) this.#texts.push(condition);
    return this;
  }

  get where(): string {
    return this.#texts.length === 0 ? "" : `WHERE ${this.#texts.join(" AND ")}`;
  }

  /** Call this last: its value comes after those of the conditions. */
  limit(rows: number | undefined): string {
    return rows === undefined ? "" : `LIMIT $${this.values.push(rows)}`;
  }
}

export function demandRuns(
  conditions: Conditions,
  { workflow, since, until, labels = [] }: RunSearch,
): Conditions {
  conditions
    .demand("run.workflow = ?", workflow)
    .demand("run.created_at >= ?", since)
    .demand("run.created_at < ?", until);
  for (const { key, value } of labels) {
    const labelled = "run.id IN (SELECT run_id FROM run_label WHERE key = ?";
    if (value === null) conditions.demandAll(`${labelled})`, key);
    else conditions.demandAll(`${labelled} AND value = ?)`, key, value);
  }
  return conditions;
}

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
