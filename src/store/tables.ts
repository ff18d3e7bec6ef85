import { BOOK_ENTRY, BOOK_ROW, type BookRow, TRIAGE_FIELDS } from "../core/book/book.js";
import {
  ATTEMPT_ROW,
  CHECKPOINT_ROW,
  FAILURE_HANDLER_ROW,
  JOB_ROW,
  ROUTE_ROW,
  RUN_ROW,
} from "../core/model/rows.js";
import { NOTICE } from "../core/notices/notice.js";
import { type ColumnKind, columnKindOf, type Fields, type OfFields, type Shape } from "../core/text/shape.js";
import { ALLOCATION_ROW } from "./cluster-rows.js";
import { CLAIM_ROW, SHARED_ROW } from "./shared-rows.js";
import { WORKFLOW_ROW } from "./store.js";
import { parseStoredJson } from "./stored-text.js";
import { TOKEN_ROW } from "./token-rows.js";

/** One column, and the position of its value in the port's row. */
export interface Column {
  readonly name: string;
  readonly kind: Extract<ColumnKind, string>;
  readonly field: string;
  /** The key within the field, for a field with several columns. */
  readonly part: string | null;
}

/** A table of both databases. Their statements for writing, reading and replacing are made from this. */
export interface Table<Row> {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The key columns; empty if rows are only added. */
  readonly key: readonly string[];
  /** The columns that a new version of a row replaces. */
  readonly replaced: readonly string[];
  /** A name for people who look for a damaged row. */
  readonly nameOf: (row: Row) => string;
}

interface Keying<Row> {
  readonly key: readonly (keyof Row & string)[];
  /** Fields besides the key that keep their first value. */
  readonly kept?: readonly (keyof Row & string)[];
  readonly nameOf?: (row: Row) => string;
}

function table<F extends Fields>(name: string, fields: F, keying: Keying<OfFields<F>>): Table<OfFields<F>> {
  const columns = Object.entries(fields).flatMap(([field, shape]) =>
    columnsOfField(field, columnKindOf(shape as Shape)),
  );
  const { key, kept = [], nameOf = () => `a row` } = keying;
  const fixed: readonly string[] = [...key, ...kept];
  const replaced =
    key.length === 0
      ? []
      : columns.filter(({ field }) => !fixed.includes(field)).map((column) => column.name);
  return { name, columns, key, replaced, nameOf };
}

function columnsOfField(field: string, kind: ColumnKind): Column[] {
  if (typeof kind === "string") return [{ name: field, kind, field, part: null }];
  return Object.entries(kind).map(([name, part]) => ({ name, kind: "plain", field, part }));
}

export const TABLES = {
  run: table("run", RUN_ROW, {
    key: ["id"],
    kept: ["cause", "labels", "concurrency", "priority"],
    nameOf: ({ id }) => `run ${id}`,
  }),
  job: table("job", JOB_ROW, { key: ["id"], nameOf: ({ id }) => `job ${id}` }),
  attempt: table("attempt", ATTEMPT_ROW, {
    key: ["run_id", "job_id", "attempt"],
    nameOf: ({ job_id, attempt }) => `attempt ${attempt} of job ${job_id}`,
  }),
  route: table("route", ROUTE_ROW, { key: [] }),
  checkpoint: table("checkpoint", CHECKPOINT_ROW, {
    key: ["run_id", "ordinal"],
    nameOf: ({ run_id, ordinal }) => `checkpoint ${ordinal} of run ${run_id}`,
  }),
  failure_handler: table("failure_handler", FAILURE_HANDLER_ROW, { key: ["id"] }),
  workflow: table("workflow", WORKFLOW_ROW, { key: ["id"] }),
  token: table("token", TOKEN_ROW, { key: ["id"] }),
  allocation: table("allocation", ALLOCATION_ROW, {
    key: ["key"],
    nameOf: ({ key }) => `allocation ${key}`,
  }),
  book_row: table("book_row", BOOK_ROW, {
    key: ["run_id", "n"],
    kept: Object.keys(BOOK_ROW) as (keyof BookRow)[],
    nameOf: ({ run_id, n }) => `row ${n} of run ${run_id}`,
  }),
  book: table("book", BOOK_ENTRY, {
    key: ["workflow", "step", "signature"],
    kept: TRIAGE_FIELDS,
    nameOf: ({ signature }) => `failure ${signature}`,
  }),
  shared: table("shared", SHARED_ROW, { key: ["kind", "name"] }),
  claim: table("claim", CLAIM_ROW, { key: ["key"] }),
  outbox: table("outbox", NOTICE, { key: ["id"], nameOf: ({ id }) => `notice ${id}` }),
} as const;

/** The columns' names in SQL. */
export function namesOf({ columns }: Pick<Table<never>, "columns">): string[] {
  // It is a keyword of SQL.
  return columns.map(({ name }) => (name === "to" ? '"to"' : name));
}

type TableName = keyof typeof TABLES;

/** For `SELECT`, `INSERT` and `RETURNING`. */
export function columnsOf({ name }: Pick<Table<never>, "name">): string {
  return COLUMNS[name as TableName];
}

/** The columns of each table, in order, for `SELECT`, `INSERT` and `RETURNING`. */
export const COLUMNS = Object.fromEntries(
  Object.entries(TABLES).map(([name, each]) => [name, namesOf(each).join(", ")]),
) as { readonly [name in TableName]: string };

/** The columns with their table's name, for queries with a join. */
export const JOB_COLUMNS_BESIDE_RUN = namesOf(TABLES.job)
  .map((name) => `job.${name}`)
  .join(", ");

/** The value for a column of this row, with JSON as text. */
export function storedValue({ kind, field, part }: Column, row: object): unknown {
  const value = (row as { readonly [field: string]: unknown })[field];
  if (kind === "json") return value === null ? null : JSON.stringify(value);
  if (part === null || value === null) return value;
  return (value as { readonly [part: string]: unknown })[part];
}

/** A port's row from the values of its columns. They come from `storedValue`, so their types are trusted. */
export function readRow<Row>(of: Table<Row>, valueAt: (column: Column, place: number) => unknown): Row {
  const row: { [field: string]: unknown } = {};
  const { columns } = of;
  for (let place = 0; place < columns.length; place += 1) {
    const column = columns[place]!;
    const value = valueAt(column, place);
    if (column.part !== null) readPart(row, column.field, column.part, value);
    else if (column.kind === "json" && value !== null)
      row[column.field] = parseStoredJson(
        value as string,
        () => `the column ${column.name} of ${of.nameOf(row as Row)} in the table ${of.name}`,
      );
    // SQLite stores it as a number.
    else row[column.field] = column.kind === "mark" ? Boolean(value) : value;
  }
  return row as Row;
}

/** Reads a field of several columns, which exists if all of them do. */
function readPart(row: { [field: string]: unknown }, field: string, part: string, value: unknown): void {
  const others = row[field];
  row[field] = value === null || others === null ? null : { ...(others as object), [part]: value };
}
