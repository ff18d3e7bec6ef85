import { ownerText } from "../lease-rules.js";
import type { Store, WaitingRun } from "../store.js";
import { type Database, LEASE_DEADLINE_MS, toArrayLiteral } from "./database.js";
import type { LeaseClock } from "./lease-verbs.js";

type WaitingVerb = "putWaiting" | "listWaiting" | "takeWaiting";

/** The lease is still the one under which the run was named as waiting. */
const IS_HELD_AS_NAMED = `EXISTS (
  SELECT 1 FROM lease
  WHERE lease.run_id = waiting_run.run_id AND lease.fence = waiting_run.fence AND lease.owner = waiting_run.owner)`;

/** All of them may be done twice. */
export function createWaitingVerbs(db: Database, clock: LeaseClock): Pick<Store, WaitingVerb> {
  return {
    async putWaiting(owner, runs) {
      await db.rows(
        `WITH gone AS (
           DELETE FROM waiting_run
           WHERE run_id <> ALL ($2::bigint[]) AND (owner = $1 OR NOT ${IS_HELD_AS_NAMED}))
         INSERT INTO waiting_run (run_id, fence, seq, owner, asks)
           SELECT given.run_id, given.fence, given.seq, $1, given.asks
           FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) AS given (run_id, fence, seq, asks)
           JOIN run ON run.id = given.run_id
         ON CONFLICT (run_id) DO UPDATE
           SET fence = excluded.fence, seq = excluded.seq, owner = excluded.owner, asks = excluded.asks`,
        ...[ownerText(owner), toArrayLiteral(runs.map(({ runId }) => runId))],
        ...[toArrayLiteral(runs.map(({ fence }) => fence)), toArrayLiteral(runs.map(({ seq }) => seq))],
        toArrayLiteral(runs.map(({ asks }) => asks)),
      );
    },
    async listWaiting(owner) {
      const rows = await db.rows<WaitingRow>(
        `SELECT run_id, fence, seq, asks FROM waiting_run WHERE owner <> $1 AND ${IS_HELD_AS_NAMED} ORDER BY run_id`,
        ownerText(owner),
      );
      return rows.map(({ run_id, fence, seq, asks }): WaitingRun => ({ runId: run_id, fence, seq, asks }));
    },
    takeWaiting: ({ runId, fence, seq }, { owner, now, expiresAt }) =>
      db.work(
        async (session) => {
          const [taken] = await session.rows<{ fence: number | null }>(
            "SELECT take_waiting_run($1, $2, $3, $4, $5, $6) AS fence",
            ...[runId, fence, seq, ownerText(owner), expiresAt - now, clock === "caller" ? now : null],
          );
          return taken?.fence == null ? null : { runId, fence: taken.fence };
        },
        { deadlineMs: LEASE_DEADLINE_MS },
      ),
  };
}

interface WaitingRow {
  readonly run_id: number;
  readonly fence: number;
  readonly seq: number;
  readonly asks: string;
}

/**
 * Two statements, so that the log is read after the lock is had: a commit that held it until then has made it longer.
 * Asked for again by who got it, since the answer may have been lost: the same token.
 */
export const WAITING_RUNS = `
  CREATE TABLE waiting_run (
    run_id bigint PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE, fence bigint NOT NULL, seq bigint NOT NULL,
    owner text COLLATE "C" NOT NULL, asks text NOT NULL);
  CREATE FUNCTION take_waiting_run(
    wanted_run bigint, old_fence bigint, last_seq bigint, new_owner text, lasts bigint, asked_at bigint)
    RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    new_fence bigint;
  BEGIN
    PERFORM FROM lease WHERE run_id = wanted_run FOR UPDATE;
    UPDATE lease SET fence = old_fence + 1, owner = new_owner, claim = NULL,
        expires_at = coalesce(asked_at, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint) + lasts
      WHERE run_id = wanted_run
        AND (fence = old_fence AND owner IS NOT NULL OR fence = old_fence + 1 AND owner = new_owner)
        AND (SELECT coalesce(max(seq), 0) FROM event WHERE run_id = wanted_run) = last_seq
      RETURNING fence INTO new_fence;
    IF new_fence IS NOT NULL THEN
      DELETE FROM waiting_run WHERE run_id = wanted_run;
    END IF;
    RETURN new_fence;
  END $$;`;
