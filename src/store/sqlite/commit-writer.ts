import { type Standing, seeksSlot } from "../group-slots.js";
import { namesOf, TABLES, type Table } from "../tables.js";
import { refuseStaleAppend, refuseTakenCause } from "../write-rules.js";
import { EVENT_COLUMNS, type PackedAppend, takeJobs } from "./packed-rows.js";
import { takeSlotNow } from "./slot-verbs.js";
import type { Cell, Database, Statement, Statements } from "./sqlite-driver.js";

/**
 * Chosen by measurement. 100,000 job rows in ms: one row per statement 303, 10 rows 142, 50 rows 120, JSON through
 * json_each 357.
 */
const ROWS_PER_STATEMENT = 16;

/** Writes appends within the open transaction. */
export class CommitWriter {
  readonly #position: Statement;
  readonly #holder: Statement;
  readonly #run: RowWriter;
  readonly #events: RowWriter;
  readonly #jobs: RowWriter;
  readonly #attempts: RowWriter;
  readonly #routes: RowWriter;
  readonly #checkpoints: RowWriter;
  readonly #book: RowWriter;
  readonly #outbox: RowWriter;

  readonly #standing: Statement;

  constructor(
    db: Database,
    private readonly statements: Statements,
  ) {
    this.#standing = db.prepare("SELECT place, finished_at FROM run WHERE id = ?");
    this.#position = db.prepare(
      `SELECT CASE WHEN owner IS NULL THEN NULL ELSE fence END AS fence,
         ifnull((SELECT max(seq) FROM event WHERE event.run_id = lease.run_id), 0) AS lastSeq
       FROM lease WHERE run_id = ?`,
    );
    this.#holder = db.prepare("SELECT id FROM run WHERE cause = ?");
    this.#run = writerOf(db, TABLES.run);
    // No upsert, because an event is never overwritten.
    this.#events = new RowWriter(db, "event", EVENT_COLUMNS.split(", "), "");
    this.#jobs = writerOf(db, TABLES.job);
    this.#attempts = writerOf(db, TABLES.attempt);
    this.#routes = writerOf(db, TABLES.route);
    this.#checkpoints = writerOf(db, TABLES.checkpoint);
    this.#book = bookWriter(db);
    this.#outbox = outboxWriter(db);
  }

  /** Writes all appends. After an error the caller must roll back. */
  writeAll(appends: readonly PackedAppend[]): void {
    const taken: PackedAppend[] = [];
    const seeking = new Set(appends.filter((append) => this.#seeksPlace(append)).map(({ runId }) => runId));
    for (const append of appends) this.#write(append, taken);
    // Causes are checked last: a caller that no longer owns a run must get that error first, as in every store.
    for (const append of taken) refuseTakenCause(append.runId, append.cause!, this.#holderOf(append));
    for (const runId of seeking) takeSlotNow(this.statements, runId);
  }

  #seeksPlace({ runId, needsPlace }: PackedAppend): boolean {
    return needsPlace && seeksSlot(this.#standing.get(runId) as Standing | undefined);
  }

  /** The run that has this cause: the run itself if no other does. */
  #holderOf({ runId, cause }: PackedAppend): number {
    const row = cause === null ? undefined : this.#holder.get(cause);
    return row === undefined ? runId : (row as { id: number }).id;
  }

  #write(append: PackedAppend, taken: PackedAppend[]): void {
    const position = this.#position.get(append.runId) as
      | { fence: number | null; lastSeq: number }
      | undefined;
    refuseStaleAppend(append, position ?? { fence: null, lastSeq: 0 });
    if (this.#holderOf(append) !== append.runId) taken.push(append);
    // Later appends of the same run are skipped, too.
    const isTaken = taken.some(({ runId }) => runId === append.runId);
    if (!isTaken) this.#run.write(append.run);
    this.#events.write(append.events);
    this.#jobs.write(append.jobs);
    for (const more of takeJobs(append.moreJobs)) this.#jobs.write(more);
    this.#attempts.write(append.attempts);
    this.#routes.write(append.routes);
    // Checkpoints need the row of their run.
    if (!isTaken) this.#checkpoints.write(append.checkpoints);
    this.#book.write(append.book);
    this.#outbox.write(append.outbox);
  }
}

/** Writes rows of a table. A row with an existing key is replaced. */
function writerOf<Row>(db: Database, table: Table<Row>): RowWriter {
  const { name, key, replaced } = table;
  const set = replaced.map((column) => `${column} = excluded.${column}`).join(", ");
  const upsert = key.length === 0 ? "" : ` ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${set}`;
  return new RowWriter(db, name, namesOf(table), upsert);
}

/** An existing row already says the same. */
export function bookWriter(db: Database): RowWriter {
  return new RowWriter(db, "book_row", namesOf(TABLES.book_row), " ON CONFLICT DO NOTHING");
}

/** An existing notice keeps its state. */
export function outboxWriter(db: Database): RowWriter {
  return new RowWriter(db, "outbox", namesOf(TABLES.outbox), " ON CONFLICT DO NOTHING");
}

/** Inserts a flat list of rows, many per statement. */
export class RowWriter {
  readonly #width: number;
  readonly #one: Statement;
  readonly #makeMany: () => Statement;
  #many: Statement | null = null;

  constructor(db: Database, table: string, columns: readonly string[], upsert: string) {
    const row = `(${columns.map(() => "?").join(", ")})`;
    const insert = `INSERT INTO ${table} (${columns.join(", ")}) VALUES `;
    this.#width = columns.length;
    this.#one = db.prepare(insert + row + upsert);
    this.#makeMany = () => db.prepare(insert + Array(ROWS_PER_STATEMENT).fill(row).join(", ") + upsert);
  }

  write(cells: readonly Cell[]): void {
    const stride = this.#width * ROWS_PER_STATEMENT;
    let from = 0;
    if (cells.length >= stride) {
      this.#many ??= this.#makeMany();
      for (; from + stride <= cells.length; from += stride)
        this.#many.run(...cells.slice(from, from + stride));
    }
    for (; from < cells.length; from += this.#width) this.#one.run(...cells.slice(from, from + this.#width));
  }
}
