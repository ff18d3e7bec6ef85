import type { OutboxStore } from "../outbox-rows.js";
import { TABLES } from "../tables.js";
import { type Database, toArrayLiteral } from "./database.js";
import type { LeaseClock } from "./lease-verbs.js";
import { readStoredRow, type StoredRow } from "./stored-rows.js";

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
