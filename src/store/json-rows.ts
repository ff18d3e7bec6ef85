import { toStorableText } from "./stored-text.js";
import { storedValue, type Table } from "./tables.js";

/** A NUL or half of a surrogate pair in JSON, which databases cannot convert to text. */
const UNSTORABLE_ESCAPE = /\\u(0000|d[89a-f])/i;

/** Rows as JSON; null if there are none. */
export function toJsonRows<Row extends object>(table: Table<Row>, rows: readonly Row[]): string | null {
  if (rows.length === 0) return null;
  const stored = lastOfEach(table, rows).map((row) => storedRow(table, row));
  const json = JSON.stringify(stored);
  if (!UNSTORABLE_ESCAPE.test(json)) return json;
  return JSON.stringify(stored, (_, value) => (typeof value === "string" ? toStorableText(value) : value));
}

/** Keeps the last version of each row, because an upsert may contain a row only once. */
function lastOfEach<Row extends object>({ key }: Table<Row>, rows: readonly Row[]): readonly Row[] {
  if (rows.length < 2 || key.length === 0) return rows;
  const keyOf = (row: Row) => key.map((column) => row[column as keyof Row]).join("/");
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

/** The row without nulls, which the database fills in for missing columns. */
function storedRow<Row extends object>({ columns }: Table<Row>, row: Row): object {
  const stored: { [column: string]: unknown } = {};
  for (const column of columns) {
    const value = storedValue(column, row);
    if (value !== null) stored[column.name] = value;
  }
  return stored;
}

/** The assignments of an upsert, which copy these columns from the given row. */
export function setEach(columns: readonly string[]): string {
  return columns.map((column) => `${column} = excluded.${column}`).join(", ");
}
