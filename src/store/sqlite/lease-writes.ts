import { givesWay, ownerText } from "../lease-rules.js";
import type { ClaimRequest, HeldLease, LeaseOwner, LeaseRequest } from "../store.js";
import { type Cells, unpackLease } from "./packed-rows.js";
import { claimPlaced } from "./place-verbs.js";
import type { WriteVerbs } from "./protocol.js";
import type { Statements } from "./statements.js";

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
