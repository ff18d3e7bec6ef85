import { type BookKey, TRIAGE_FIELDS } from "../../core/book/book-entry.js";
import { type BookFilter, type BookStore, stateConditions, uncounted } from "../book-rows.js";
import { DUTY_LEASE } from "../duties.js";
import { COLUMNS, namesOf, TABLES } from "../tables.js";
import type { Caller } from "./caller.js";
import { type Cells, packRows, unpackTable } from "./packed-rows.js";
import type { ReadVerbs, WriteVerbs } from "./protocol.js";
import { Conditions, type Statements } from "./statements.js";

type BookRead = "listEntries" | "readEntries" | "listUnrolled" | "listBookRows" | "countEndedJobs";
type BookWrite = "rollUp" | "writeTriage";

const NO_LIMIT = -1;
const NEWEST_ENTRY_FIRST = "ORDER BY last_seen DESC, workflow DESC, step DESC, signature DESC";
/** No text that begins with it is after this. */
const LAST_CHARACTER = "\u{10ffff}";

export function createBookReads({ rows }: Statements): Pick<ReadVerbs, BookRead> {
  return {
    listEntries: ({ after, limit, ...filter }) => {
      const conditions = entriesOf(filter);
      if (after !== undefined) {
        conditions.demandIf(true, "(last_seen, workflow, step, signature) < (?, ?, ?, ?)");
        conditions.cells.push(after.last_seen, after.workflow, after.step, after.signature);
      }
      const sql = `SELECT ${COLUMNS.book} FROM book ${conditions.where} ${NEWEST_ENTRY_FIRST} LIMIT ?`;
      return rows(sql, ...conditions.cells, limit).flat();
    },
    readEntries: (keys) =>
      rows(
        `SELECT ${COLUMNS.book} FROM book WHERE (workflow, step, signature) IN (
           SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))`,
        JSON.stringify(keys.map(({ workflow, step, signature }) => [workflow, step, signature])),
      ).flat(),
    listUnrolled: (runId, n, limit) =>
      rows(
        `SELECT ${COLUMNS.book_row} FROM book_row WHERE rolled = 0 AND (run_id, n) > (?, ?)
         ORDER BY run_id, n LIMIT ?`,
        ...[runId, n, limit],
      ).flat(),
    listBookRows: ({ signature, workflow, step, since, flakes, met, limit }) => {
      const { where, cells } = new Conditions()
        .demandIf(flakes === true, "flake_ms IS NOT NULL")
        .demandIf(met === true, "kind = 'met'")
        .demandIf(true, "EXISTS (SELECT 1 FROM run WHERE run.id = book_row.run_id)")
        .demand("signature = ?", signature)
        .demand("workflow = ?", workflow)
        .demand("step = ?", step)
        .demand("at >= ?", since);
      const sql = `SELECT ${COLUMNS.book_row} FROM book_row ${where} ORDER BY at DESC, run_id DESC, n DESC LIMIT ?`;
      return rows(sql, ...cells, limit ?? NO_LIMIT).flat();
    },
    countEndedJobs: ({ workflow, since, until }) => {
      const { where, cells } = new Conditions()
        .demand("run.created_at >= ?", since)
        .demand("run.created_at < ?", until)
        .demand("run.workflow = ?", workflow)
        .demandIf(true, "json_extract(run.options, '$.imported') IS NULL")
        .demandIf(true, "job.status IN ('completed', 'failed') AND job.attempt_id > 0");
      return rows<readonly [string, string, number]>(
        `SELECT run.workflow, job.step, count(*) FROM run CROSS JOIN job ON job.run_id = run.id ${where}
         GROUP BY run.workflow, job.step`,
        ...cells,
      ).map(([of, step, jobs]) => ({ workflow: of, step, jobs }));
    },
  };
}

function entriesOf(filter: BookFilter): Conditions {
  const conditions = new Conditions()
    .demand("workflow = ?", filter.workflow)
    .demand("step = ?", filter.step)
    .demand("class = ?", filter.class)
    .demand("last_seen >= ?", filter.since)
    .demand("first_seen >= ?", filter.newSince);
  if (filter.signature !== undefined)
    conditions
      .demand("signature >= ?", filter.signature)
      .demand("signature < ?", filter.signature + LAST_CHARACTER);
  // Made only by a word of people, and not met yet.
  conditions.demandIf(true, "occurrences > 0");
  const states = stateConditions(filter);
  return conditions.demandIf(states !== null, `(${states})`);
}

export function createBookWrites({ run, row }: Statements): Pick<WriteVerbs, BookWrite> {
  return {
    rollUp: (fence, entries, rows) => {
      const held = "SELECT 1 FROM lease WHERE run_id = ? AND fence = ? AND owner IS NOT NULL";
      if (row(held, DUTY_LEASE.book, fence) === null) return false;
      const width = TABLES.book.columns.length;
      for (let from = 0; from < entries.length; from += width)
        run(WRITE_COUNTS, ...entries.slice(from, from + width));
      const rolled = "(run_id, n) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))";
      run(`UPDATE book_row SET rolled = 1 WHERE ${rolled}`, rows);
      // Those of runs that are gone were kept only for this.
      run(`DELETE FROM book_row WHERE ${rolled} AND run_id NOT IN (SELECT id FROM run)`, rows);
      return true;
    },
    writeTriage: (entry, { workflow, step, signature }, revision) => {
      const found = row<readonly [number]>(
        "SELECT revision FROM book WHERE workflow = ? AND step = ? AND signature = ?",
        ...[workflow, step, signature],
      );
      if ((found?.[0] ?? 0) !== revision) return false;
      run(WRITE_TRIAGE, ...entry);
      return true;
    },
  };
}

const INSERT_ENTRY = `INSERT INTO book (${COLUMNS.book}) VALUES (${namesOf(TABLES.book)
  .map(() => "?")
  .join(", ")}) ON CONFLICT (workflow, step, signature) DO UPDATE SET `;
const setEach = (columns: readonly string[]): string =>
  columns.map((column) => `${column} = excluded.${column}`).join(", ");
const WRITE_COUNTS = INSERT_ENTRY + setEach(TABLES.book.replaced);
const WRITE_TRIAGE = INSERT_ENTRY + setEach(TRIAGE_FIELDS);

/** What no entry contains yet stays until it is rolled up. */
export function forgetBookRows({ run }: Pick<Statements, "run">, runId: number): void {
  run("DELETE FROM book_row WHERE run_id = ? AND rolled = 1", runId);
}

export function createBookVerbs(thread: Caller): BookStore {
  const entriesFrom = (cells: Cells) => unpackTable(TABLES.book, cells);
  const rowsFrom = (cells: Cells) => unpackTable(TABLES.book_row, cells);
  return {
    listEntries: async (page) => entriesFrom(await thread.call("listEntries", page)),
    readEntries: async (keys) => entriesFrom(await thread.call("readEntries", keys as readonly BookKey[])),
    listUnrolled: async (after, limit) =>
      rowsFrom(await thread.call("listUnrolled", after?.run_id ?? 0, after?.n ?? 0, limit)),
    listBookRows: async (filter) => rowsFrom(await thread.call("listBookRows", filter)),
    rollUp: ({ fence, entries, rows }) =>
      thread.call(
        "rollUp",
        fence,
        packRows(TABLES.book, entries),
        JSON.stringify(rows.map(({ run_id, n }) => [run_id, n])),
      ),
    writeTriage: (entry, triage) => {
      const { workflow, step, signature, revision } = entry;
      const next = { ...uncounted(entry), ...triage, revision: revision + 1 };
      return thread.call(
        "writeTriage",
        packRows(TABLES.book, [next]),
        { workflow, step, signature },
        revision,
      );
    },
    countEndedJobs: (filter) => thread.call("countEndedJobs", filter),
  };
}
