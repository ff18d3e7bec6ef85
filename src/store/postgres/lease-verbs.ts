import type { ChangeListeners } from "../change-listeners.js";
import type { ClaimRequest, LeaseRequest, Store } from "../store.js";
import { nameChange } from "./commit-payload.js";
import type { Session } from "./connection-pool.js";
import type { Database } from "./database.js";
import { COLUMNS, readStoredLease, type StoredLease, storeOwner } from "./stored-rows.js";

type LeaseVerb = "acquireLease" | "renewLease" | "releaseLease" | "readLease" | "claimRuns";

/** All of them may be done twice: a lease asked for again by its owner is granted again, with a higher token. */
export function createLeaseVerbs(
  db: Database,
  listeners: ChangeListeners,
  sender: string,
): Pick<Store, LeaseVerb> {
  return {
    acquireLease: (request) => db.work((session) => acquireLease(session, request)),
    async renewLease(runId, fence, expiresAt) {
      const renewed = await db.rows(
        "UPDATE lease SET expires_at = $3 WHERE run_id = $1 AND fence = $2 AND owner IS NOT NULL RETURNING 1",
        ...[runId, fence, expiresAt],
      );
      return renewed.length === 1;
    },
    async releaseLease(runId, fence) {
      // The row stays: the next owner's token must be higher than this one.
      const wanted = await db.rows(
        `WITH freed AS (UPDATE lease SET owner = NULL WHERE run_id = $1 AND fence = $2 RETURNING run_id)
         SELECT pg_notify(current_schema(), $3) FROM freed JOIN run ON run.id = freed.run_id WHERE run.wanted`,
        ...[runId, fence, `${nameChange("wanted", runId)}:${sender}`],
      );
      if (wanted.length > 0) listeners.tell("wanted", runId);
    },
    readLease: (runId) => db.work((session) => readLease(session, runId)),
    claimRuns: (request) => db.work((session) => claimRuns(session, request)),
  };
}

/** The rule of `givesWay`, in SQL: it must hold for the row at the instant at which it is replaced. */
async function acquireLease(session: Session, request: LeaseRequest): ReturnType<Store["acquireLease"]> {
  const { runId, owner, now, expiresAt, evenFrom } = request;
  for (;;) {
    const [granted] = await session.rows<{ fence: number }>(
      `INSERT INTO lease (run_id, fence, owner, expires_at) VALUES ($1, 1, $2, $3)
       ON CONFLICT (run_id) DO UPDATE
         SET fence = lease.fence + 1, owner = excluded.owner, expires_at = excluded.expires_at
         WHERE lease.owner IS NULL OR lease.expires_at <= $4 OR lease.fence = $5 OR lease.owner = excluded.owner
       RETURNING fence`,
      ...[runId, storeOwner(owner), expiresAt, now, evenFrom ?? null],
    );
    if (granted !== undefined) return { granted: true, fence: granted.fence };
    const lease = await readLease(session, runId);
    // Null: it was given back between the two questions, so the first is asked again.
    if (lease !== null) return { granted: false, lease };
  }
}

async function readLease(session: Session, runId: number): ReturnType<Store["readLease"]> {
  const [lease] = await session.rows<StoredLease>(
    `SELECT ${COLUMNS.lease} FROM lease WHERE run_id = $1`,
    runId,
  );
  return lease === undefined ? null : readStoredLease(lease);
}

/** A run that somebody writes or claims at this instant is passed over. A run has had a lease since its first commit. */
async function claimRuns(
  session: Session,
  { owner, now, expiresAt, limit }: ClaimRequest,
): ReturnType<Store["claimRuns"]> {
  const claimed = await session.rows<{ run_id: number; fence: number }>(
    `WITH free AS (
       SELECT lease.run_id FROM run JOIN lease ON lease.run_id = run.id
       WHERE run.wanted AND (lease.owner IS NULL OR lease.expires_at <= $1)
       ORDER BY run.id LIMIT $2::bigint FOR UPDATE OF lease SKIP LOCKED)
     UPDATE lease SET fence = lease.fence + 1, owner = $3, expires_at = $4
     FROM free WHERE lease.run_id = free.run_id RETURNING lease.run_id, lease.fence`,
    ...[now, limit, storeOwner(owner), expiresAt],
  );
  return claimed.map(({ run_id, fence }) => ({ runId: run_id, fence })).sort((a, b) => a.runId - b.runId);
}
