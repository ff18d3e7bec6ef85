import { givesWay, ownerText } from "../lease-rules.js";
import type { ClaimRequest, HeldLease, LeaseOwner, LeaseRequest, WaitingRun } from "../store.js";
import { type Cells, unpackLease } from "./packed-rows.js";
import type { ReadVerbs, WriteVerbs } from "./protocol.js";
import { claimPlaced } from "./slot-verbs.js";
import type { Statements } from "./sqlite-driver.js";

type LeaseWrite = "acquireLease" | "renewLeases" | "releaseLease" | "claimRuns";

/** The rule of `isClaimable` in SQL. Nearly all runs that want an engine have one, and these need not be read. */
export const FIND_CLAIMABLE_RUNS = `
  SELECT run.id FROM run LEFT JOIN lease ON lease.run_id = run.id
  WHERE run.id IN (SELECT id FROM run WHERE wanted = 1 UNION ALL SELECT id FROM run WHERE wanted_at <= ?1)
    AND (lease.owner IS NULL OR lease.expires_at <= ?1 OR lease.owner IN (SELECT value FROM json_each(?2)))
    AND run.id NOT IN (SELECT value FROM json_each(?3))
  ORDER BY ifnull(run.priority, 0) DESC, run.id LIMIT ?4`;

/** Whether the run wants an engine, or waits for a place so that a server may take it. */
const IS_ASKING = `
  SELECT 1 FROM run WHERE id = ? AND
    (wanted = 1 OR (managed = 1 AND concurrency_group IS NOT NULL AND status = 'pending'))`;

export function createLeaseWrites(statements: Statements): Pick<WriteVerbs, LeaseWrite> {
  return {
    acquireLease: (request) => acquireLease(statements, request),
    renewLeases: (leases, expiresAt) =>
      leases.filter((lease) => !renew(statements, lease, expiresAt)).map(({ runId }) => runId),
    releaseLease: (runId, fence) => releaseLease(statements, runId, fence),
    claimRuns: (request) => claimRuns(statements, request),
  };
}

function acquireLease(statements: Statements, request: LeaseRequest): number | Cells {
  const row = statements.row("SELECT fence, owner, expires_at FROM lease WHERE run_id = ?", request.runId);
  if (row !== null && !givesWay(unpackLease(row), request)) return row;
  return grant(statements, request);
}

/** Returns false if the lease is no longer ours. */
function renew({ run }: Statements, { runId, fence }: HeldLease, expiresAt: number): boolean {
  const sql = "UPDATE lease SET expires_at = ? WHERE run_id = ? AND fence = ? AND owner IS NOT NULL";
  return run(sql, expiresAt, runId, fence).changes === 1;
}

function releaseLease({ run, row }: Statements, runId: number, fence: number): boolean {
  // The row is kept, because the next owner's token must be higher than this one.
  const { changes } = run("UPDATE lease SET owner = NULL WHERE run_id = ? AND fence = ?", runId, fence);
  return changes === 1 && row(IS_ASKING, runId) !== null;
}

function claimRuns(statements: Statements, request: ClaimRequest) {
  const { owner, now, expiresAt, limit, deadOwners = [], except = [] } = request;
  const dead = JSON.stringify(deadOwners.map(ownerText));
  const placed = claimPlaced(statements, request);
  const cells = [now, dead, JSON.stringify(except), limit - placed.length];
  const free = statements.rows<readonly [number]>(FIND_CLAIMABLE_RUNS, ...cells).map(([runId]) => runId);
  const claimed = [...placed, ...free].sort((a, b) => a - b);
  return claimed.map((runId) => ({ runId, fence: grant(statements, { runId, owner, expiresAt }) }));
}

interface Grant {
  readonly runId: number;
  readonly owner: LeaseOwner;
  readonly expiresAt: number;
}

/** Returns the new token, which is higher than every earlier one. */
function grant({ row }: Statements, { runId, owner, expiresAt }: Grant): number {
  const granted = row<readonly [number]>(
    `INSERT INTO lease (run_id, fence, owner, expires_at) VALUES (?, 1, ?, ?)
     ON CONFLICT (run_id) DO UPDATE SET fence = fence + 1, owner = excluded.owner, expires_at = excluded.expires_at
     RETURNING fence`,
    ...[runId, ownerText(owner), expiresAt],
  );
  return granted?.[0] ?? 0;
}

/** Whether the lease is still the one under which the run was listed as waiting. */
const IS_HELD_AS_NAMED = `EXISTS (
  SELECT 1 FROM lease
  WHERE lease.run_id = waiting_run.run_id AND lease.fence = waiting_run.fence AND lease.owner = waiting_run.owner)`;

export function createWaitingWrites(statements: Statements): Pick<WriteVerbs, "putWaiting" | "takeWaiting"> {
  const { run, row } = statements;
  return {
    putWaiting: (owner, runs) => {
      run(`DELETE FROM waiting_run WHERE owner = ? OR NOT ${IS_HELD_AS_NAMED}`, owner);
      for (const { runId, fence, seq, asks } of runs)
        run(
          `INSERT OR REPLACE INTO waiting_run (run_id, fence, seq, owner, asks)
           SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM run WHERE id = ?1)`,
          ...[runId, fence, seq, owner, asks],
        );
      return null;
    },
    takeWaiting: ({ runId, fence, seq }, owner, expiresAt) => {
      const taken = row<readonly [number]>(
        `UPDATE lease SET fence = fence + 1, owner = ?1, expires_at = ?2
         WHERE run_id = ?3 AND fence = ?4 AND owner IS NOT NULL
           AND ifnull((SELECT max(seq) FROM event WHERE event.run_id = ?3), 0) = ?5
         RETURNING fence`,
        ...[owner, expiresAt, runId, fence, seq],
      );
      if (taken === null) return null;
      run("DELETE FROM waiting_run WHERE run_id = ?", runId);
      return taken[0];
    },
  };
}

export function createWaitingReads({ rows }: Statements): Pick<ReadVerbs, "listWaiting"> {
  return {
    listWaiting: (owner) =>
      rows<readonly [number, number, number, string]>(
        `SELECT run_id, fence, seq, asks FROM waiting_run
         WHERE owner <> ? AND ${IS_HELD_AS_NAMED} ORDER BY run_id`,
        owner,
      ).map(([runId, fence, seq, asks]): WaitingRun => ({ runId, fence, seq, asks })),
  };
}
