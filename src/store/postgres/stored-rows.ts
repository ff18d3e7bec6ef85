import type { Event, LoggedEvent } from "../../core/model/events.js";
import type { LastLease, Lease, LeaseOwner } from "../store.js";
import { parseStoredJson } from "../stored-json.js";
import { readRow, type Table } from "../tables.js";

/** A row of the database: a value for each column, with JSON as text. */
export type StoredRow = { readonly [column: string]: unknown };
export interface StoredEvent {
  readonly seq: number;
  readonly at: number;
  readonly data: string;
}
export interface StoredLease {
  readonly fence: number;
  readonly owner: string | null;
  readonly expires_at: number;
}

export function readStoredRow<Row>(table: Table<Row>, stored: StoredRow): Row {
  return readRow(table, ({ name }) => stored[name]);
}

export function readStoredEvent(runId: number, { seq, at, data }: StoredEvent): LoggedEvent {
  const place = () => `event ${seq} of run ${runId} in the table event`;
  return { seq, at, event: parseStoredJson(data, place) as Event };
}

/** Reads a lease; null if nobody holds it. */
export function readStoredLease({ fence, owner, expires_at }: StoredLease): Lease | null {
  if (owner === null) return null;
  const read = parseStoredJson(owner, () => "an owner in the table lease") as LeaseOwner;
  return { owner: read, fence, expiresAt: expires_at };
}

export function readLastLease(stored: StoredLease & { readonly run_id: number }): LastLease {
  const { run_id: runId, expires_at: expiresAt } = stored;
  return { runId, owner: readStoredLease(stored)?.owner ?? null, expiresAt };
}
