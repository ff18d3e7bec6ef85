import type { Event, LoggedEvent } from "../../core/model/events.js";
import type { JobRow } from "../../core/model/rows.js";
import type { JobFilter } from "../filters.js";
import type { OutboxStore } from "../outbox-rows.js";
import type { JobName, LastLease, Lease, LeaseOwner, Store } from "../store.js";
import { parseStoredJson } from "../stored-text.js";
import { JOB_COLUMNS_BESIDE_RUN, readRow, TABLES, type Table } from "../tables.js";
import { Conditions, type Dialect } from "../verbs/dialect.js";
import { findEvents, findJobs } from "../verbs/run.js";
import { toParameter } from "./cold-verbs.js";
import { type Database, toArrayLiteral } from "./database.js";
import type { LeaseClock } from "./lease-verbs.js";

/** A row of the database: a value for each column, with JSON as text. */
type StoredRow = { readonly [column: string]: unknown };
interface StoredEvent {
  readonly seq: number;
  readonly at: number;
  readonly data: string;
}
export interface StoredLease {
  readonly fence: number;
  readonly owner: string | null;
  readonly expires_at: number;
}

function readStoredRow<Row>(table: Table<Row>, stored: StoredRow): Row {
  return readRow(table, ({ name }) => stored[name]);
}

function readStoredEvent(runId: number, { seq, at, data }: StoredEvent): LoggedEvent {
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

type RunRead = "readEvents" | "readJobs" | "readJobNames" | "listJobs";

/** Reads that may return very many rows. */
export function createRunReads(db: Database, dialect: Dialect): Pick<Store, RunRead> {
  const list = <Row>(columns: string, from: string, rest: string, { where, values }: Conditions) =>
    db.list<Row>(`SELECT ${columns} FROM ${from} ${where} ${rest}`, ...values.map(toParameter));
  const listJobs = async (filter: JobFilter): Promise<JobRow[]> => {
    const { from, conditions } = findJobs(dialect, filter);
    const rest = `ORDER BY job.id ${conditions.demand("job.id > ?", filter.afterId).limit(filter.limit)}`;
    const found = await list<StoredRow>(JOB_COLUMNS_BESIDE_RUN, from, rest, conditions);
    return found.map((row) => readStoredRow(TABLES.job, row));
  };
  return {
    async readEvents(runId, { afterSeq = 0, limit, ...range } = {}) {
      const { from, conditions } = findEvents(dialect, runId, range);
      const rest = `ORDER BY seq ${conditions.demand("seq > ?", afterSeq).limit(limit)}`;
      const stored = await list<StoredEvent>("seq, at, data", from, rest, conditions);
      return stored.map((event) => readStoredEvent(runId, event));
    },
    readJobs: (runId) => listJobs({ runId }),
    readJobNames: (runId, { afterId, limit, step } = {}) => {
      const conditions = new Conditions(dialect)
        .demand("run_id = ?", runId)
        .demand("step = ?", step)
        .demand("id > ?", afterId);
      return list<JobName>("id, step, scope", "job", `ORDER BY id ${conditions.limit(limit)}`, conditions);
    },
    listJobs,
  };
}

const NOW = "coalesce($1::bigint, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";

/**
 * Claims notices. One that somebody else claims at this instant is skipped. A repeated call keeps what it got before
 * its answer was lost.
 */
const CLAIM = `
  WITH free AS (
    SELECT id FROM outbox
    WHERE state IN ('new', 'due') AND state = $8 AND next_at <= ${NOW} AND channel = ANY ($2::text[])
      AND ($3::bigint[] IS NULL OR run_id = ANY ($3::bigint[]))
      AND (lease IS NULL OR leased_until <= ${NOW} OR lease = $5 OR lease = ANY ($4::text[]))
    ORDER BY at, id LIMIT $6::bigint FOR UPDATE SKIP LOCKED)
  UPDATE outbox SET lease = $5, leased_until = ${NOW} + $7::bigint FROM free WHERE outbox.id = free.id
  RETURNING ${TABLES.outbox.columns.map(({ name }) => `outbox.${name}`).join(", ")}`;

export function createOutboxVerbs(db: Database, clock: LeaseClock): Pick<OutboxStore, "claimNotices"> {
  return {
    async claimNotices({ lease, now, leaseMs, limit, state, channels, runIds, deadLeases = [] }) {
      const rows = await db.rows<StoredRow>(
        CLAIM,
        ...[clock === "caller" ? now : null, toArrayLiteral(channels)],
        ...[runIds === undefined ? null : toArrayLiteral(runIds), toArrayLiteral(deadLeases)],
        ...[lease, limit, leaseMs, state],
      );
      const claimed = rows.map((row) => readStoredRow(TABLES.outbox, row));
      return claimed.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
    },
  };
}
