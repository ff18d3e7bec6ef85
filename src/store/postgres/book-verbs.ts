import { randomUUID } from "node:crypto";
import { TRIAGE_FIELDS } from "../../core/book/book-entry.js";
import { type BookFilter, type BookStore, stateConditions, uncounted } from "../book-rows.js";
import { DUTY_LEASE } from "../duties.js";
import { setEach, toJsonRows } from "../json-rows.js";
import { COLUMNS, TABLES } from "../tables.js";
import { Conditions } from "./conditions.js";
import type { Database } from "./database.js";
import { readStoredRow, type StoredRow } from "./stored-rows.js";

const NEWEST_ENTRY_FIRST = "ORDER BY last_seen DESC, workflow DESC, step DESC, signature DESC";
/** No text that begins with it is after this. */
const LAST_CHARACTER = "\u{10ffff}";

/** The lock keeps the duty from being taken over between the check and the end of the statement. */
const HELD = `held AS (
  SELECT FROM lease WHERE run_id = ${DUTY_LEASE.book} AND fence = $1::bigint AND owner IS NOT NULL FOR UPDATE)`;

/** What it writes are whole values, so a call that is repeated writes the same. */
const ROLL_UP = `
  WITH ${HELD},
  counted AS (
    INSERT INTO book (${COLUMNS.book})
      SELECT ${COLUMNS.book} FROM json_populate_recordset(NULL::book, coalesce($2, '[]')::text::json)
      WHERE EXISTS (SELECT FROM held)
      ON CONFLICT (workflow, step, signature) DO UPDATE SET ${setEach(TABLES.book.replaced)}),
  given AS (SELECT (pair ->> 0)::bigint AS run_id, (pair ->> 1)::integer AS n FROM json_array_elements($3::text::json) AS pair),
  marked AS (
    UPDATE book_row SET rolled = true FROM given
      WHERE book_row.run_id = given.run_id AND book_row.n = given.n AND EXISTS (SELECT FROM held)
        AND EXISTS (SELECT FROM run WHERE run.id = given.run_id)),
  dropped AS (
    DELETE FROM book_row USING given
      WHERE book_row.run_id = given.run_id AND book_row.n = given.n AND EXISTS (SELECT FROM held)
        AND NOT EXISTS (SELECT FROM run WHERE run.id = given.run_id))
  SELECT 1 FROM held`;

const WRITE_TRIAGE = `
  INSERT INTO book (${COLUMNS.book}, stamp)
    SELECT ${COLUMNS.book}, $2 FROM json_populate_recordset(NULL::book, $1::text::json)
    ON CONFLICT (workflow, step, signature) DO UPDATE SET ${setEach(TRIAGE_FIELDS)}, stamp = excluded.stamp
    WHERE book.revision = excluded.revision - 1
    RETURNING 1`;

export function createBookVerbs(db: Database): BookStore {
  return { ...createBookReads(db), ...createBookWrites(db) };
}

type BookWrite = "rollUp" | "writeTriage";

function createBookReads(db: Database): Omit<BookStore, BookWrite> {
  const entries = async (rest: string, parameters: Conditions["parameters"]) =>
    (await db.list<StoredRow>(`SELECT ${COLUMNS.book} FROM book ${rest}`, ...parameters)).map((row) =>
      readStoredRow(TABLES.book, row),
    );
  const rows = async (rest: string, parameters: Conditions["parameters"]) =>
    (await db.list<StoredRow>(`SELECT ${COLUMNS.book_row} FROM book_row ${rest}`, ...parameters)).map((row) =>
      readStoredRow(TABLES.book_row, row),
    );
  return {
    listEntries: ({ after, limit, ...filter }) => {
      const conditions = entriesOf(filter);
      if (after !== undefined)
        conditions.demand(
          `(last_seen, workflow, step, signature) < (SELECT (place ->> 0)::bigint, place ->> 1, place ->> 2, place ->> 3
             FROM (SELECT ?::text::json AS place) AS given)`,
          JSON.stringify([after.last_seen, after.workflow, after.step, after.signature]),
        );
      return entries(
        `${conditions.where} ${NEWEST_ENTRY_FIRST} ${conditions.limit(limit)}`,
        conditions.parameters,
      );
    },
    readEntries: (keys) =>
      entries(
        `WHERE (workflow, step, signature) IN (
           SELECT key ->> 0, key ->> 1, key ->> 2 FROM json_array_elements($1::text::json) AS key)`,
        [JSON.stringify(keys.map(({ workflow, step, signature }) => [workflow, step, signature]))],
      ),
    listUnrolled: (after, limit) =>
      rows(
        "WHERE NOT rolled AND (run_id, n) > ($1::bigint, $2::integer) ORDER BY run_id, n LIMIT $3::bigint",
        [...[after?.run_id ?? 0, after?.n ?? 0, limit]],
      ),
    listBookRows: ({ signature, workflow, step, since, flakes, met, limit }) => {
      const conditions = new Conditions()
        .demand("signature = ?", signature)
        .demand("workflow = ?", workflow)
        .demand("step = ?", step)
        .demand("at >= ?", since)
        .require("EXISTS (SELECT FROM run WHERE run.id = book_row.run_id)");
      if (flakes === true) conditions.require("flake_ms IS NOT NULL");
      if (met === true) conditions.require("kind = 'met'");
      return rows(
        `${conditions.where} ORDER BY at DESC, run_id DESC, n DESC ${conditions.limit(limit)}`,
        conditions.parameters,
      );
    },
    countEndedJobs: ({ workflow, since, until }) => {
      const conditions = new Conditions()
        .demand("run.created_at >= ?", since)
        .demand("run.created_at < ?", until)
        .demand("run.workflow = ?", workflow)
        .require("run.options NOT LIKE '%\"imported\":true%'")
        .require("job.status IN ('completed', 'failed') AND job.attempt_id > 0");
      return db.list(
        `SELECT run.workflow, job.step, count(*) AS jobs FROM run JOIN job ON job.run_id = run.id ${conditions.where}
         GROUP BY run.workflow, job.step`,
        ...conditions.parameters,
      );
    },
  };
}

function entriesOf(filter: BookFilter): Conditions {
  const conditions = new Conditions()
    .demand("workflow = ?", filter.workflow)
    .demand("step = ?", filter.step)
    .demand("class = ?", filter.class)
    .demand("last_seen >= ?", filter.since)
    .demand("first_seen >= ?", filter.newSince)
    // Made only by a word of people, and not met yet.
    .require("occurrences > 0");
  if (filter.signature !== undefined)
    conditions
      .demand("signature >= ?", filter.signature)
      .demand("signature < ?", filter.signature + LAST_CHARACTER);
  const states = stateConditions(filter);
  return states === null ? conditions : conditions.require(`(${states})`);
}

function createBookWrites(db: Database): Pick<BookStore, BookWrite> {
  return {
    async rollUp({ fence, entries, rows }) {
      const places = JSON.stringify(rows.map(({ run_id, n }) => [run_id, n]));
      const held = await db.rows(ROLL_UP, fence, toJsonRows(TABLES.book, entries), places);
      return held.length === 1;
    },
    writeTriage: (entry, triage) => {
      const stamp = randomUUID();
      const row = toJsonRows(TABLES.book, [{ ...uncounted(entry), ...triage, revision: entry.revision + 1 }]);
      return db.work(async (session, isRepeated) => {
        const written = await session.rows(WRITE_TRIAGE, row, stamp);
        if (written.length === 1 || !isRepeated) return written.length === 1;
        const { workflow, step, signature } = entry;
        const sql = "SELECT 1 FROM book WHERE workflow = $1 AND step = $2 AND signature = $3 AND stamp = $4";
        return (await session.rows(sql, workflow, step, signature, stamp)).length === 1;
      });
    },
  };
}
