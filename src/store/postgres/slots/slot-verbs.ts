import { DEFAULT_PRIORITY } from "../../../core/groups/concurrency.js";
import type { RunStatus } from "../../../core/model/rows.js";
import { type GroupMember, type GroupSlotStore, nextInGroup, type SlotRequest } from "../../group-slots.js";
import { isSameOwner, ownerText } from "../../lease-rules.js";
import type { ClaimRequest, HeldLease, LeaseOwner } from "../../store.js";
import type { Session } from "../connection-pool.js";
import { type Database, toArrayLiteral } from "../database.js";
import type { LeaseClock } from "../lease-verbs.js";
import { violates } from "../postgres-errors.js";
import { PLACE_INDEX } from "./slot-functions.js";

/** The first parameter is the present time if the caller's clock counts, else null. */
const NOW = "coalesce($1::bigint, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";
/** How often to retry if others are faster. The next round then tries again. */
const MAX_TRIES = 20;

interface MemberRow {
  readonly id: number;
  readonly workflow: string;
  readonly concurrency_group: string;
  readonly group_limit: number;
  readonly group_policy: GroupMember["concurrency"]["policy"];
  readonly priority: number | null;
  readonly status: RunStatus;
  readonly managed: boolean;
  readonly place: number | null;
  readonly owner: string | null;
  readonly last_place: number;
}

/** A group at one instant. A place taken later has a higher number than the last. */
interface Group {
  readonly lastPlace: number;
  readonly members: readonly GroupMember[];
}

export function createSlotVerbs(db: Database, clock: LeaseClock): GroupSlotStore {
  const places = new Places(clock);
  return {
    async readGroups(groups, now) {
      const found = await db.work((session) => places.read(session, groups, now));
      return [...found.values()].flatMap(({ members }) => members).sort((a, b) => a.runId - b.runId);
    },
    takeSlot: (request) => db.work((session) => places.take(session, request)),
  };
}

export class Places {
  constructor(private readonly clock: LeaseClock) {}

  async read(
    session: Session,
    groups: readonly string[] | null,
    now: number,
  ): Promise<ReadonlyMap<string, Group>> {
    const rows = await session.rows<MemberRow>(
      `SELECT run.id, run.workflow, run.concurrency_group, run.group_limit, run.group_policy, run.priority, run.status,
         run.managed, run.place, CASE WHEN lease.expires_at > ${NOW} THEN lease.owner END AS owner,
         (SELECT coalesce(max(other.place), 0) FROM run AS other
          WHERE other.concurrency_group = run.concurrency_group AND other.place IS NOT NULL) AS last_place
       FROM run LEFT JOIN lease ON lease.run_id = run.id
       WHERE run.concurrency_group IS NOT NULL AND run.finished_at IS NULL AND
         CASE WHEN $2::text[] IS NOT NULL THEN run.concurrency_group = ANY ($2::text[]) ELSE run.concurrency_group IN (
           SELECT waiting.concurrency_group FROM run AS waiting WHERE waiting.concurrency_group IS NOT NULL
             AND waiting.finished_at IS NULL AND waiting.started_at IS NULL) END
       ORDER BY run.id`,
      ...[this.#at(now), groups === null ? null : toArrayLiteral(groups)],
    );
    const found = new Map<string, { lastPlace: number; members: GroupMember[] }>();
    for (const row of rows) {
      const group = found.get(row.concurrency_group) ?? { lastPlace: row.last_place, members: [] };
      found.set(row.concurrency_group, group);
      group.members.push(toMember(row));
    }
    return found;
  }

  async take(session: Session, { runId, fence, now, deadOwners }: SlotRequest): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const [own] = await session.rows<{ concurrency_group: string | null; place: number | null }>(
        `SELECT run.concurrency_group, run.place FROM run JOIN lease ON lease.run_id = run.id
         WHERE run.id = $1 AND run.finished_at IS NULL AND lease.fence = $2 AND lease.owner IS NOT NULL`,
        ...[runId, fence],
      );
      if (own === undefined || own.concurrency_group === null) return false;
      if (own.place !== null) return true;
      const group = (await this.read(session, [own.concurrency_group], now)).get(own.concurrency_group);
      if (group === undefined) return false;
      if (nextInGroup(group.members, deadOwners)?.runId !== runId) return false;
      const taken = await orNull(() =>
        session.rows(
          `UPDATE run SET place = $1::bigint FROM lease
           WHERE run.id = $2 AND run.place IS NULL AND run.finished_at IS NULL
             AND lease.run_id = run.id AND lease.fence = $3 AND lease.owner IS NOT NULL RETURNING run.id`,
          ...[group.lastPlace + 1, runId, fence],
        ),
      );
      if (taken !== null) return taken.length === 1;
    }
    return false;
  }

  /** Claims managed runs whose turn it is in their groups, each with its place, which it may already have. */
  async claim(session: Session, request: ClaimRequest, claim: string): Promise<HeldLease[]> {
    const claimed: HeldLease[] = [];
    for (let tries = 0; tries < MAX_TRIES && claimed.length < request.limit; ) {
      const groups = await this.read(session, null, request.now);
      const before = claimed.length;
      let isOvertaken = false;
      for (const group of groups.values()) {
        const except = [...(request.except ?? []), ...claimed.map(({ runId }) => runId)];
        const found = toClaim(group, { ...request, except }).slice(0, request.limit - claimed.length);
        for (const { runId, place } of found) {
          const fence = await orNull(() =>
            this.#claimOne(session, request, { runId, place: place ?? group.lastPlace + 1, claim }),
          );
          if (fence === null) isOvertaken = true;
          else if (fence !== undefined) claimed.push({ runId, fence });
        }
      }
      // Takes one place of each group at a time, and determines the next run again, since everything may have changed
      // by now.
      if (claimed.length > before) continue;
      if (!isOvertaken) break;
      tries += 1;
    }
    return claimed;
  }

  /** Returns undefined if somebody has the run. */
  async #claimOne(
    session: Session,
    { owner, now, expiresAt, deadOwners = [] }: ClaimRequest,
    { runId, place, claim }: { readonly runId: number; readonly place: number; readonly claim: string },
  ): Promise<number | undefined> {
    const [row] = await session.rows<{ fence: number }>(
      `WITH ours AS (
         UPDATE lease SET fence = lease.fence + 1, owner = $3, expires_at = ${NOW} + $4::bigint, claim = $5
         WHERE lease.run_id = $2
           AND (lease.owner IS NULL OR lease.expires_at <= ${NOW} OR lease.owner = ANY ($6::text[]))
         RETURNING lease.run_id, lease.fence),
       placed AS (
         UPDATE run SET place = $7::bigint FROM ours
         WHERE run.id = ours.run_id AND run.place IS DISTINCT FROM $7::bigint AND run.finished_at IS NULL)
       SELECT fence FROM ours`,
      ...[this.#at(now), runId, ownerText(owner), expiresAt - now, claim],
      ...[toArrayLiteral(deadOwners.map(ownerText)), place],
    );
    return row?.fence;
  }

  #at(now: number): number | null {
    return this.clock === "caller" ? now : null;
  }
}

/** Members that already have a place, and the one whose turn it is. */
function toClaim({ members }: Group, request: ClaimRequest): GroupMember[] {
  const { deadOwners = [], except = [] } = request;
  const isHeld = (owner: LeaseOwner | null): boolean =>
    owner !== null && !deadOwners.some((dead) => isSameOwner(dead, owner));
  const mayTake = ({ managed, runId, status, owner }: GroupMember): boolean =>
    managed && status === "pending" && !except.includes(runId) && !isHeld(owner);
  const placed = members.filter((member) => member.place !== null && mayTake(member));
  const next = nextInGroup(members, deadOwners);
  return next === null || !mayTake(next) ? placed : [...placed, next];
}

/** Returns null if somebody else took the place. */
async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (violates(error, PLACE_INDEX)) return null;
    throw error;
  }
}

function toMember(row: MemberRow): GroupMember {
  const { id, workflow, status, managed, place, priority, owner } = row;
  return {
    ...{ runId: id, workflow, status, managed, place },
    concurrency: { group: row.concurrency_group, limit: row.group_limit, policy: row.group_policy },
    priority: priority ?? DEFAULT_PRIORITY,
    owner: owner === null ? null : (JSON.parse(owner) as LeaseOwner),
  };
}
