import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { isUnderWay } from "../group-slots.js";
import type { Append, LastLease, Lease } from "../store.js";
import { parseStoredJson, toStorableText } from "../stored-text.js";
import { type Column, readRow, storedValue, TABLES, type Table } from "../tables.js";
import type { Cell } from "./sqlite-driver.js";

export const EVENT_COLUMNS = "run_id, seq, at, type, data";

/**
 * An append for the database thread. Rows are passed as flat lists of cells in the order of the table's columns:
 * copying these is several times cheaper than copying objects, and they are bound to statements directly.
 */
export interface PackedAppend {
  readonly runId: number;
  readonly fence: number;
  readonly firstSeq: number;
  /** The cause of a new run. */
  readonly cause: string | null;
  /** The run is in a group and will be in progress, so it needs a place. */
  readonly needsPlace: boolean;
  /** Rows one after the other, without separators. */
  readonly run: Cell[];
  readonly events: Cell[];
  readonly jobs: Cell[];
  readonly attempts: Cell[];
  readonly routes: Cell[];
  readonly checkpoints: Cell[];
  readonly book: Cell[];
  readonly outbox: Cell[];
  /** Further jobs after those in `jobs`, if there are very many. */
  readonly moreJobs: MessagePort | null;
}

/**
 * A run of 100,000 jobs begins with a row for each. Sent at once they would take some 60 MB on both threads, which
 * neither gives back. So they wait in a queue, from which the database thread takes one list after the other.
 */
const JOBS_PER_MESSAGE = 1_024;

export function packAppend(append: Append): PackedAppend {
  const { runId, fence, firstSeq } = append;
  const events: Cell[] = [];
  let seq = firstSeq;
  for (const { at, type, data } of append.events) {
    events.push(runId, seq, at, type, data);
    seq += 1;
  }
  return {
    ...{ runId, fence, firstSeq, events },
    cause: firstSeq === 1 ? (append.run?.cause ?? null) : null,
    needsPlace: append.run !== null && isUnderWay(append.run),
    run: packRows(TABLES.run, append.run === null ? [] : [append.run]),
    jobs: packRows(TABLES.job, append.jobs.slice(0, JOBS_PER_MESSAGE)),
    moreJobs: append.jobs.length > JOBS_PER_MESSAGE ? queueJobs(append.jobs, JOBS_PER_MESSAGE) : null,
    attempts: packRows(TABLES.attempt, append.attempts),
    routes: packRows(TABLES.route, append.routes),
    checkpoints: packRows(TABLES.checkpoint, append.checkpoints ?? []),
    book: packRows(TABLES.book_row, append.book ?? []),
    outbox: packRows(TABLES.outbox, append.outbox ?? []),
  };
}

function queueJobs(jobs: Append["jobs"], first: number): MessagePort {
  const { port1, port2 } = new MessageChannel();
  for (let from = first; from < jobs.length; from += JOBS_PER_MESSAGE)
    port1.postMessage(packRows(TABLES.job, jobs.slice(from, from + JOBS_PER_MESSAGE)));
  return port2;
}

/** The lists that `queueJobs` has added. Each can be taken once. */
export function* takeJobs(queue: MessagePort | null): Generator<Cell[]> {
  if (queue === null) return;
  for (let next = receiveMessageOnPort(queue); next !== undefined; next = receiveMessageOnPort(queue))
    yield next.message as Cell[];
}

export function packRows<Row extends object>({ columns }: Table<Row>, rows: readonly Row[]): Cell[] {
  const cells: Cell[] = [];
  for (const row of rows) for (const column of columns) cells.push(cellOf(column, row));
  return cells;
}

function cellOf(column: Column, row: object): Cell {
  const value = storedValue(column, row);
  if (column.kind === "mark") return value === true ? 1 : 0;
  return column.kind === "free_text" && value !== null ? toStorableText(value as string) : (value as Cell);
}

/** Reads rows of a table from a flat list. */
export function unpackTable<Row>(table: Table<Row>, cells: Cells): Row[] {
  const rows: Row[] = [];
  for (let from = 0; from < cells.length; from += table.columns.length)
    rows.push(unpackCells(table, cells, from));
  return rows;
}

/** Reads the row whose cells begin at this position. */
export function unpackCells<Row>(table: Table<Row>, cells: Cells, from: number): Row {
  return readRow(table, (_, place) => cells[from + place]);
}

/** Reads a flat list of rows with these columns. */
export function unpackRows<Row>(cells: Cells, columns: string, unpack: (row: Cells) => Row): Row[] {
  const width = widthOf(columns);
  const rows: Row[] = [];
  for (let from = 0; from < cells.length; from += width) rows.push(unpack(cells.slice(from, from + width)));
  return rows;
}

function widthOf(columns: string): number {
  return columns.split(", ").length;
}

/** One row from the database. Its cells are what was packed, so readers trust their types. */
export type Cells = readonly Cell[];

export const LAST_LEASE_COLUMNS = "run_id, owner, expires_at";

export function unpackLastLease([runId, owner, expiresAt]: Cells): LastLease {
  const place = () => `the owner of run ${runId} in the table lease`;
  return { runId, owner: unpackJson(owner, place), expiresAt } as LastLease;
}

/** Reads `fence, owner, expires_at`; null if nobody holds the lease. */
export function unpackLease([fence, owner, expiresAt]: Cells): Lease | null {
  const place = () => "an owner in the table lease";
  return owner === null ? null : ({ owner: unpackJson(owner, place), fence, expiresAt } as Lease);
}

function unpackJson(cell: Cell | undefined, place: () => string): unknown {
  return typeof cell === "string" ? parseStoredJson(cell, place) : null;
}
