import { randomUUID } from "node:crypto";
import type { ChangeListeners } from "../change-listeners.js";
import { ownerText } from "../lease-rules.js";
import type {
  ClaimRequest,
  HeldLease,
  LastLease,
  LeaseOwner,
  LeaseRequest,
  Store,
  WaitingRun,
} from "../store.js";
import { nameChange } from "./commit/commit-queue.js";
import type { Session } from "./connection-pool.js";
import { type Database, LEASE_DEADLINE_MS, toArrayLiteral } from "./database.js";
import { readLastLease, readStoredLease, type StoredLease } from "./row-verbs.js";
import { Places } from "./slots/slot-verbs.js";

type LeaseVerb =
  | "acquireLease"
  | "renewLeases"
  | "releaseLease"
  | "readLease"
  | "readLastLeases"
  | "claimRuns"
  | "listOwners";

/**
 * The clock for leases. Machines disagree about the time, and one whose clock is fast would take all runs of the
 * others. So the database's clock counts, and only differences between a caller's times are used. `caller` takes every
 * time as given, for tests that choose the instant.
 */
export type LeaseClock = "database" | "caller";

/** The first parameter is the present time if the caller's clock counts, else null. */
const NOW = "coalesce($1::bigint, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";

/** All of these may be repeated: an owner that asks for its lease again gets it with a higher token. */
export function createLeaseVerbs(
  db: Database,
  listeners: ChangeListeners,
  { sender, clock }: { readonly sender: string; readonly clock: LeaseClock },
): Pick<Store, LeaseVerb> {
  const leases = new Leases(clock);
  const places = new Places(clock);
  return {
    acquireLease: (request) => db.work((session) => leases.acquire(session, request)),
    renewLeases: (held, now, expiresAt) =>
      db.work((session) => leases.renew(session, held, now, expiresAt), { deadlineMs: LEASE_DEADLINE_MS }),
    async releaseLease(runId, fence) {
      // The row is kept, because the next owner's token must be higher than this one.
      const wanted = await db.rows(
        `WITH freed AS (UPDATE lease SET owner = NULL WHERE run_id = $1 AND fence = $2 RETURNING run_id)
         SELECT pg_notify(current_schema(), $3) FROM freed JOIN run ON run.id = freed.run_id
         WHERE run.wanted OR (run.managed AND run.concurrency_group IS NOT NULL AND run.status = 'pending')`,
        ...[runId, fence, `${nameChange("wanted", runId)}:${sender}`],
      );
      if (wanted.length > 0) listeners.tell("wanted", runId);
    },
    readLease: (runId) =>
      db.work((session) => leases.read(session, runId, clock === "caller" ? 0 : Date.now())),
    readLastLeases: (runIds) =>
      db.work((session) => leases.readLast(session, runIds, clock === "caller" ? 0 : Date.now())),
    claimRuns(request) {
      const claim = randomUUID();
      return db.work(async (session, isRepeated) => {
        const gained = isRepeated ? await leases.claimedBefore(session, request, claim) : [];
        if (gained.length > 0) return gained;
        const placed = await places.claim(session, request, claim);
        const limit = request.limit - placed.length;
        return [...placed, ...(await leases.claim(session, { ...request, limit }, claim))].sort(
          (a, b) => a.runId - b.runId,
        );
      });
    },
    async listOwners() {
      const owners = await db.rows<{ owner: string; mark: number }>(
        `SELECT lease.owner, max(lease.expires_at) AS mark FROM (
           SELECT run.id FROM run WHERE run.wanted UNION ALL
           SELECT run.id FROM run WHERE run.wanted_at IS NOT NULL UNION ALL
           SELECT run.id FROM run
             WHERE run.concurrency_group IS NOT NULL AND run.finished_at IS NULL AND run.started_at IS NULL
         ) AS asking JOIN lease ON lease.run_id = asking.id
         WHERE lease.owner IS NOT NULL GROUP BY lease.owner`,
      );
      return owners.map(({ owner, mark }) => ({ owner: JSON.parse(owner) as LeaseOwner, mark }));
    },
  };
}

class Leases {
  constructor(private readonly clock: LeaseClock) {}

  /** The rule of `givesWay` in SQL, because it must hold for the row when it is replaced. */
  async acquire(session: Session, request: LeaseRequest): ReturnType<Store["acquireLease"]> {
    const { runId, owner, now, expiresAt, evenFrom } = request;
    for (;;) {
      const [granted] = await session.rows<{ fence: number }>(
        `INSERT INTO lease (run_id, fence, owner, expires_at) VALUES ($2, 1, $3, ${NOW} + $4::bigint)
         ON CONFLICT (run_id) DO UPDATE
           SET fence = lease.fence + 1, owner = excluded.owner, expires_at = excluded.expires_at, claim = NULL
           WHERE lease.owner IS NULL OR lease.expires_at <= ${NOW} OR lease.fence = $5 OR lease.owner = excluded.owner
         RETURNING fence`,
        ...[this.#at(now), runId, ownerText(owner), expiresAt - now, evenFrom ?? null],
      );
      if (granted !== undefined) return { granted: true, fence: granted.fence };
      const lease = await this.read(session, runId, now);
      // Null means that it was released between the two queries, so the first is repeated.
      if (lease !== null) return { granted: false, lease };
    }
  }

  /** Reads the lease. Its end is converted to the clock of `now`. */
  async read(session: Session, runId: number, now: number): ReturnType<Store["readLease"]> {
    const [lease] = await session.rows<StoredLease>(
      `SELECT fence, owner, $3::bigint + expires_at - ${NOW} AS expires_at FROM lease WHERE run_id = $2`,
      ...[this.#at(now), runId, now],
    );
    return lease === undefined ? null : readStoredLease(lease);
  }

  async readLast(session: Session, runIds: readonly number[], now: number): Promise<LastLease[]> {
    const rows = await session.rows<StoredLease & { readonly run_id: number }>(
      `SELECT run_id, fence, owner, $3::bigint + expires_at - ${NOW} AS expires_at FROM lease
       WHERE run_id = ANY($2::bigint[])`,
      ...[this.#at(now), toArrayLiteral(runIds), now],
    );
    return rows.map(readLastLease);
  }

  /** Renews leases. Rows are locked in the order of their ids, as in commits, so that the two cannot deadlock. */
  async renew(
    session: Session,
    held: readonly HeldLease[],
    now: number,
    expiresAt: number,
  ): Promise<number[]> {
    const runIds = held.map(({ runId }) => runId);
    const renewed = await session.rows<{ run_id: number }>(
      `WITH ours AS (
         SELECT lease.run_id FROM lease JOIN unnest($2::bigint[], $3::bigint[]) AS held (run_id, fence)
           ON lease.run_id = held.run_id AND lease.fence = held.fence
         WHERE lease.owner IS NOT NULL ORDER BY lease.run_id FOR UPDATE OF lease)
       UPDATE lease SET expires_at = ${NOW} + $4::bigint FROM ours WHERE lease.run_id = ours.run_id
       RETURNING lease.run_id`,
      ...[this.#at(now), toArrayLiteral(runIds), toArrayLiteral(held.map(({ fence }) => fence))],
      expiresAt - now,
    );
    const kept = new Set(renewed.map(({ run_id }) => run_id));
    return runIds.filter((runId) => !kept.has(runId));
  }

  /**
   * Claims runs. One that somebody writes or claims at this instant is skipped. A run has had a lease since its first
   * commit.
   */
  async claim(
    session: Session,
    { owner, now, expiresAt, limit, deadOwners = [], except = [] }: ClaimRequest,
    claim: string,
  ): Promise<HeldLease[]> {
    const claimed = await session.rows<ClaimedRow>(
      `WITH free AS (
         SELECT lease.run_id FROM run JOIN lease ON lease.run_id = run.id
         WHERE (run.wanted OR run.wanted_at <= $8::bigint)
           AND (lease.owner IS NULL OR lease.expires_at <= ${NOW} OR lease.owner = ANY ($6::text[]))
           AND run.id <> ALL ($7::bigint[])
         ORDER BY coalesce(run.priority, 0) DESC, run.id LIMIT $2::bigint FOR UPDATE OF lease SKIP LOCKED)
       UPDATE lease SET fence = lease.fence + 1, owner = $3, expires_at = ${NOW} + $4::bigint, claim = $5
       FROM free WHERE lease.run_id = free.run_id RETURNING lease.run_id, lease.fence`,
      ...[this.#at(now), limit, ownerText(owner), expiresAt - now, claim],
      ...[toArrayLiteral(deadOwners.map(ownerText)), toArrayLiteral(except), now],
    );
    return toHeld(claimed);
  }

  /**
   * What an earlier try of this call claimed before its answer was lost. Otherwise nobody would work on these runs, and
   * nobody else could take them.
   */
  async claimedBefore(
    session: Session,
    { now, expiresAt }: ClaimRequest,
    claim: string,
  ): Promise<HeldLease[]> {
    const claimed = await session.rows<ClaimedRow>(
      `UPDATE lease SET expires_at = ${NOW} + $2::bigint FROM run
       WHERE (run.wanted OR run.wanted_at <= $4::bigint OR run.status = 'pending') AND lease.run_id = run.id
         AND lease.claim = $3 AND lease.owner IS NOT NULL
       RETURNING lease.run_id, lease.fence`,
      ...[this.#at(now), expiresAt - now, claim, now],
    );
    return toHeld(claimed);
  }

  #at(now: number): number | null {
    return this.clock === "caller" ? now : null;
  }
}

interface ClaimedRow {
  readonly run_id: number;
  readonly fence: number;
}

function toHeld(claimed: readonly ClaimedRow[]): HeldLease[] {
  return claimed.map(({ run_id, fence }) => ({ runId: run_id, fence })).sort((a, b) => a.runId - b.runId);
}

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
