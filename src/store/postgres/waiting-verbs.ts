import { ownerText } from "../lease-rules.js";
import type { Store, WaitingRun } from "../store.js";
import { type Database, LEASE_DEADLINE_MS, toArrayLiteral } from "./database.js";
import type { LeaseClock } from "./lease-verbs.js";

type WaitingVerb = "putWaiting" | "listWaiting" | "takeWaiting";

/** Whether the lease is still the one under which the run was listed as waiting. */
const IS_HELD_AS_NAMED = `EXISTS (
  SELECT 1 FROM lease
  WHERE lease.run_id = waiting_run.run_id AND lease.fence = waiting_run.fence AND lease.owner = waiting_run.owner)`;

/** All of these may be repeated. */
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
