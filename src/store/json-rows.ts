import { toStorableText } from "./storable-text.js";
import { storedValue, type Table } from "./tables.js";

/** A NUL or half a character in JSON, which databases do not turn into text. */
const UNSTORABLE_ESCAPE = /\\u(0000|d[89a-f])/i;

/** Null: there are none, and nothing need be looked at. */
export function toJsonRows<Row extends object>(table: Table<Row>, rows: readonly Row[]): string | null {
  if (rows.length === 0) return null;
  const stored = lastOfEach(table, rows).map((row) => storedRow(table, row));
  const json = JSON.stringify(stored);
  if (!UNSTORABLE_ESCAPE.test(json)) return json;
  return JSON.stringify(stored, (_, value) => (typeof value === "string" ? toStorableText(value) : value));
}

/** An upsert may name a row only once, so of several versions the last one is sent. */
function lastOfEach<Row extends object>({ key }: Table<Row>, rows: readonly Row[]): readonly Row[] {
  if (rows.length < 2 || key.length === 0) return rows;
  const keyOf = (row: Row) => key.map((column) => row[column as keyof Row]).join("/");
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

/** Without what is null: that is what the database puts where nothing is said. */
function storedRow<Row extends object>({ columns }: Table<Row>, row: Row): object {
  const stored: { [column: string]: unknown } = {};
  for (const column of columns) {
    const value = storedValue(column, row);
    if (value !== null) stored[column.name] = value;
  }
  return stored;
}

/** For an upsert: what a row is to take over from the one that was given. */
export function setEach(columns: readonly string[]): string {
  return columns.map((column) => `${column} = excluded.${column}`).join(", ");
}
