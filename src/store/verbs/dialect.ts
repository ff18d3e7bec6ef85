import type { RunSearch } from "../filters.js";
import type { Table } from "../tables.js";
import type { Value } from "./query.js";

/** What the databases write differently. Values are named by their place, `$1`. */
export interface Dialect {
  /** Whether a column holds one of the values of a list. */
  among(column: string, list: string, of: "text" | "bigint"): string;
  /** Rows with these columns, and their types, that are given as JSON. */
  records(json: string, columns: { readonly [column: string]: string }): string;
  /** A query for the rows of a table that are given as JSON. */
  given(table: Pick<Table<never>, "name" | "columns">, json: string): string;
  /** Bytes on their way into a column, and out of it. */
  readonly bytes: { write(value: string): string; read(column: string): string };
  /** Keeps a row that is read as it is until the transaction ends. */
  readonly lock: string;
  /** Keeps the order of the tables where a planner must be told. */
  readonly join: string;
  /** Finds the job of an event as its index does. */
  readonly eventJob: string;
  /** A field of an event, by the names on the way to it. */
  field(...names: readonly string[]): string;
  readonly isNotOk: string;
  /** The jobs that a decision is about, as rows, and how one of them is read. */
  readonly decided: { readonly jobs: string; readonly job: string };
  /** Where a text stands in another; 0: nowhere. */
  position(text: string, sought: string): string;
  /** Small letters for those of ASCII. */
  lower(text: string): string;
  /** After the name of a table: the index by which it is read, where a planner must be told. */
  indexed(index: string): string;
  /** A query for the time; null: that of whoever asks counts. */
  readonly clock: string | null;
}

/** The rule of `writtenStep` as SQL. */
export const WRITTEN_STEP = "coalesce(job.family, job.step)";
/** A step, or every step of a family. No step is called as a family is, whose name has braces. */
export const IS_OF_STEP = "? IN (job.step, job.family)";
export const NOT_IMPORTED = `run.options NOT LIKE '%"imported":true%'`;

/** Conditions that are demanded only where there is a value for them; `?` stands for the value. */
export class Conditions {
  readonly values: Value[] = [];
  readonly #texts: string[] = [];

  constructor(private readonly dialect: Dialect) {}

  demand(condition: string, value: Value | undefined): this {
    return value === undefined ? this : this.demandAll(condition, value);
  }

  /** One with several values, each at its `?`. */
  demandAll(condition: string, ...values: readonly Value[]): this {
    this.values.push(...values);
    let place = this.values.length - values.length;
    this.#texts.push(condition.replaceAll("?", () => `$${++place}`));
    return this;
  }

  demandOneOf(column: string, values: readonly (string | number)[] | undefined, of: "text" | "bigint"): this {
    return this.demand(this.dialect.among(column, "?", of), values);
  }

  /** One without a value, as an index needs it that holds only such rows. */
  demandIf(isDemanded: boolean, condition: string): this {
    if (isDemanded) this.#texts.push(condition);
    return this;
  }

  get where(): string {
    return this.#texts.length === 0 ? "" : `WHERE ${this.#texts.join(" AND ")}`;
  }

  /** To be read last: its value follows those of the conditions. */
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
