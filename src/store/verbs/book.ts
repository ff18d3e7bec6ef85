import {
  type BookEntry,
  type BookKey,
  type BookRow,
  TRIAGE_FIELDS,
  type Triage,
} from "../../core/book/book.js";
import {
  type BookFilter,
  type BookPage,
  type EndedJobs,
  type RollUp,
  type RowFilter,
  stateConditions,
  uncounted,
} from "../book-rows.js";
import { DUTY_LEASE } from "../lease-rules.js";
import { TABLES } from "../tables.js";
import {
  Conditions,
  type Dialect,
  NOT_IMPORTED,
  put,
  row,
  rows,
  rowsOf,
  type Verb,
  WRITTEN_STEP,
} from "./dialect.js";

const NEWEST_ENTRY_FIRST = "ORDER BY last_seen DESC, workflow DESC, step DESC, signature DESC";
/** No text with a given beginning sorts after this character. */
const LAST_CHARACTER = "\u{10ffff}";

export function* listEntries(dialect: Dialect, { after, limit, ...filter }: BookPage): Verb<BookEntry[]> {
  const found = entriesOf(dialect, filter);
  if (after !== undefined)
    found.demandAll(
      "(last_seen, workflow, step, signature) < (?, ?, ?, ?)",
      ...[after.last_seen, after.workflow, after.step, after.signature],
    );
  return yield* rowsOf(
    TABLES.book,
    `${found.where} ${NEWEST_ENTRY_FIRST} ${found.limit(limit)}`,
    ...found.values,
  );
}

function entriesOf(dialect: Dialect, filter: BookFilter): Conditions {
  const states = stateConditions(filter);
  const found = new Conditions(dialect)
    .demand("workflow = ?", filter.workflow)
    .demand("step = ?", filter.step)
    .demand("class = ?", filter.class)
    .demand("last_seen >= ?", filter.since)
    .demand("first_seen >= ?", filter.newSince)
    // Made only by a note of a person; the failure has not occurred yet.
    .demandIf(true, "occurrences > 0")
    .demandIf(states !== null, `(${states})`);
  return filter.signature === undefined
    ? found
    : found.demandAll(
        "signature >= ? AND signature < ?",
        ...[filter.signature, filter.signature + LAST_CHARACTER],
      );
}

export function* readEntries({ records }: Dialect, keys: readonly BookKey[]): Verb<BookEntry[]> {
  const asked = records("$1", { workflow: "text", step: "text", signature: "text" });
  return yield* rowsOf(
    TABLES.book,
    `WHERE (workflow, step, signature) IN (${asked})`,
    JSON.stringify(keys.map(({ workflow, step, signature }) => ({ workflow, step, signature }))),
  );
}

export function* listUnrolled(
  _: Dialect,
  after: Pick<BookRow, "run_id" | "n"> | null,
  limit: number,
): Verb<BookRow[]> {
  return yield* rowsOf(
    TABLES.book_row,
    "WHERE NOT rolled AND (run_id, n) > ($1, $2) ORDER BY run_id, n LIMIT $3",
    ...[after?.run_id ?? 0, after?.n ?? 0, limit],
  );
}

export function* listBookRows(
  dialect: Dialect,
  { signature, workflow, step, since, flakes, met, limit }: RowFilter,
): Verb<BookRow[]> {
  const found = new Conditions(dialect)
    .demandIf(flakes === true, "flake_ms IS NOT NULL")
    .demandIf(met === true, "kind = 'met'")
    .demandIf(true, "EXISTS (SELECT 1 FROM run WHERE run.id = book_row.run_id)")
    .demand("signature = ?", signature)
    .demand("workflow = ?", workflow)
    .demand("step = ?", step)
    .demand("at >= ?", since);
  const rest = `${found.where} ORDER BY at DESC, run_id DESC, n DESC ${found.limit(limit)}`;
  return yield* rowsOf(TABLES.book_row, rest, ...found.values);
}

export function* countEndedJobs(
  dialect: Dialect,
  { workflow, since, until }: { readonly workflow?: string; readonly since: number; readonly until: number },
): Verb<EndedJobs[]> {
  const { where, values } = new Conditions(dialect)
    .demand("run.created_at >= ?", since)
    .demand("run.created_at < ?", until)
    .demand("run.workflow = ?", workflow)
    .demandIf(true, NOT_IMPORTED)
    .demandIf(true, "job.status IN ('completed', 'failed') AND job.attempt_id > 0");
  const found = yield* rows<EndedJobs>(
    `SELECT run.workflow, ${WRITTEN_STEP} AS step, count(*) AS jobs FROM run ${dialect.join} job ON job.run_id = run.id ${where}
     GROUP BY run.workflow, ${WRITTEN_STEP}`,
    ...values,
  );
  return [...found];
}

export function* rollUp(dialect: Dialect, { fence, entries, rows: rolled }: RollUp): Verb<boolean> {
  // The lock keeps the duty from being taken over until this is written.
  const held = yield* row(
    `SELECT 1 AS held FROM lease WHERE run_id = $1 AND fence = $2 AND owner IS NOT NULL ${dialect.lock}`,
    ...[DUTY_LEASE.book, fence],
  );
  if (held === null) return false;
  yield* put(dialect, TABLES.book, entries);
  const places = JSON.stringify(rolled.map(({ run_id, n }) => ({ run_id, n })));
  const isGiven = `(run_id, n) IN (${dialect.records("$1", { run_id: "bigint", n: "integer" })})`;
  yield* rows(`UPDATE book_row SET rolled = true WHERE ${isGiven}`, places);
  // Rows of deleted runs were kept only for this.
  yield* rows(
    `DELETE FROM book_row WHERE ${isGiven} AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = book_row.run_id)`,
    places,
  );
  return true;
}

export function* writeTriage(dialect: Dialect, entry: BookEntry, triage: Triage): Verb<boolean> {
  const { workflow, step, signature, revision } = entry;
  const present = yield* row<{ revision: number }>(
    "SELECT revision FROM book WHERE workflow = $1 AND step = $2 AND signature = $3",
    ...[workflow, step, signature],
  );
  if ((present?.revision ?? 0) !== revision) return false;
  const next = { ...uncounted(entry), ...triage, revision: revision + 1 };
  yield* put(dialect, TABLES.book, [next], TRIAGE_FIELDS);
  return true;
}
