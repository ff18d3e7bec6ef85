import type { OutboxStore } from "../../outbox-rows.js";
import { COLUMNS, TABLES } from "../../tables.js";
import { Conditions } from "../conditions.js";
import { type Database, toArrayLiteral } from "../database.js";
import type { LeaseClock } from "../lease-verbs.js";
import { readStoredRow, type StoredRow } from "../stored-rows.js";

const NOW = "coalesce($1::bigint, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";

/** One that somebody else claims at this instant is passed over. What the same call got before its answer was lost is its own. */
const CLAIM = `
  WITH free AS (
    SELECT id FROM outbox
    WHERE state IN ('new', 'due') AND state = $8 AND next_at <= ${NOW} AND channel = ANY ($2::text[])
      AND ($3::bigint[] IS NULL OR run_id = ANY ($3::bigint[]))
      AND (lease IS NULL OR leased_until <= ${NOW} OR lease = $5 OR lease = ANY ($4::text[]))
    ORDER BY at, id LIMIT $6::bigint FOR UPDATE SKIP LOCKED)
  UPDATE outbox SET lease = $5, leased_until = ${NOW} + $7::bigint FROM free WHERE outbox.id = free.id
  RETURNING ${TABLES.outbox.columns.map(({ name }) => `outbox.${name}`).join(", ")}`;

const FIND_COMPLETION = `
  SELECT max(attempt.started_at) AS begun_at FROM run
  JOIN job ON job.run_id = run.id AND job.step = $1 AND job.status = 'completed'
  JOIN attempt ON attempt.run_id = run.id AND attempt.job_id = job.id AND attempt.attempt = job.attempt_id
    AND attempt.status = 'succeeded' AND attempt.started_at > $2::bigint
  WHERE run.workflow = $3 AND (run.finished_at IS NULL OR run.finished_at > $2::bigint)
    AND run.options NOT LIKE '%"imported":true%'`;

export function createOutboxVerbs(db: Database, clock: LeaseClock): OutboxStore {
  const read = (rows: readonly StoredRow[]) => rows.map((row) => readStoredRow(TABLES.outbox, row));
  return {
    async claimNotices({ lease, now, leaseMs, limit, state, channels, runIds, deadLeases = [] }) {
      const rows = await db.rows<StoredRow>(
        CLAIM,
        ...[clock === "caller" ? now : null, toArrayLiteral(channels)],
        ...[runIds === undefined ? null : toArrayLiteral(runIds), toArrayLiteral(deadLeases)],
        ...[lease, limit, leaseMs, state],
      );
      return read(rows).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
    },
    async listNoticeLeases() {
      const rows = await db.rows<{ lease: string }>(
        `SELECT DISTINCT lease FROM outbox WHERE state IN ('new', 'due') AND lease IS NOT NULL ORDER BY lease`,
      );
      return rows.map(({ lease }) => lease);
    },
    async listNotices({ limit, channels, states, runIds, after }) {
      const conditions = new Conditions()
        .demandOneOf("channel", channels)
        .demandOneOf("state", states)
        .demand("run_id = ANY (?::bigint[])", runIds && toArrayLiteral(runIds));
      if (after !== undefined) conditions.demandAll("(at, id) < (?::bigint, ?::text)", after.at, after.id);
      const sql = `SELECT ${COLUMNS.outbox} FROM outbox ${conditions.where} ORDER BY at DESC, id DESC ${conditions.limit(limit)}`;
      return read(await db.list<StoredRow>(sql, ...conditions.parameters));
    },
    async pruneNotices(before) {
      const [gone] = await db.list<{ count: number }>(
        `WITH gone AS (DELETE FROM outbox WHERE at < $1::bigint RETURNING 1) SELECT count(*) AS count FROM gone`,
        before,
      );
      return gone?.count ?? 0;
    },
    async findCompletion({ workflow, step, since }) {
      const [found] = await db.list<{ begun_at: number | null }>(FIND_COMPLETION, step, since, workflow);
      return found?.begun_at ?? null;
    },
  };
}

/** One of them is not as whoever writes has read it. */
const STALE_STATE = "DR003";

/**
 * All or nothing: rows that are there are locked before their revisions are compared, and what turns out to be stale takes
 * back all that was written before.
 */
export const WRITE_SHARED_FUNCTION = `
  CREATE FUNCTION write_shared(given json, notices json, settled json, given_stamp text, change text, given_now bigint)
    RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    now_ms bigint := coalesce(given_now, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint);
    changed bigint;
  BEGIN
    PERFORM FROM shared JOIN json_to_recordset(given) AS each (kind text, name text) USING (kind, name)
      ORDER BY shared.kind, shared.name FOR UPDATE OF shared;
    INSERT INTO shared (kind, name, revision, data, stamp)
      SELECT each.kind, each.name, each.revision + 1, each.data, given_stamp
      FROM json_to_recordset(given) AS each (kind text, name text, revision bigint, data text)
      LEFT JOIN shared USING (kind, name) WHERE coalesce(shared.revision, 0) = each.revision
      ORDER BY each.kind, each.name
      ON CONFLICT (kind, name) DO UPDATE SET revision = excluded.revision, data = excluded.data, stamp = excluded.stamp
      WHERE shared.revision = excluded.revision - 1;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> json_array_length(given) THEN
      RAISE EXCEPTION 'stale' USING ERRCODE = '${STALE_STATE}';
    END IF;
    IF settled IS NOT NULL THEN
      UPDATE outbox SET state = each.state, told = each.told, tries = each.tries, error = each.error,
          settled_at = each.settled_at, next_at = now_ms + each.delay_ms, lease = NULL, leased_until = 0,
          stamp = given_stamp
        FROM json_to_recordset(settled) AS each (id text, lease text, state text, told text, tries integer, error text,
          settled_at bigint, delay_ms bigint)
        WHERE outbox.id = each.id AND outbox.lease = each.lease;
      GET DIAGNOSTICS changed = ROW_COUNT;
      IF changed <> json_array_length(settled) THEN
        RAISE EXCEPTION 'stale' USING ERRCODE = '${STALE_STATE}';
      END IF;
    END IF;
    IF notices IS NOT NULL THEN
      INSERT INTO outbox (${COLUMNS.outbox})
        SELECT ${COLUMNS.outbox} FROM json_populate_recordset(NULL::outbox, notices) ON CONFLICT DO NOTHING;
    END IF;
    IF json_array_length(given) > 0 THEN
      PERFORM pg_notify(current_schema(), change);
    END IF;
    RETURN true;
  EXCEPTION WHEN SQLSTATE '${STALE_STATE}' THEN
    RETURN false;
  END $$;`;
