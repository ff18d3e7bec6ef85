import { DEFAULT_PRIORITY } from "../../core/groups/concurrency.js";
import {
  type GroupMember,
  type GroupSlotStore,
  hasRoomFor,
  holdersIn,
  nextInGroup,
  refuseWithoutSlot,
  type SlotRequest,
} from "../group-slots.js";
import { isFree, isSameOwner } from "../lease-rules.js";
import type { ClaimRequest, LeaseOwner } from "../store.js";
import { unpackLease } from "./packed-rows.js";
import type { Caller, ReadVerbs, WriteVerbs } from "./protocol.js";
import type { Cell, Statements } from "./sqlite-driver.js";

/** The same condition as in the index of unfinished runs in groups. */
const IN_GROUP = "run.concurrency_group IS NOT NULL AND run.finished_at IS NULL";

const MEMBERS = `
  SELECT run.id, run.workflow, run.concurrency_group, run.group_limit, run.group_policy, run.priority, run.status,
    run.managed, run.place, lease.fence, lease.owner, lease.expires_at
  FROM run LEFT JOIN lease ON lease.run_id = run.id WHERE ${IN_GROUP}`;

const MEMBERS_OF_GROUPS = `${MEMBERS} AND run.concurrency_group IN (SELECT value FROM json_each(?)) ORDER BY run.id`;

export const MEMBERS_OF_QUEUES = `${MEMBERS} AND run.concurrency_group IN (
  SELECT run.concurrency_group FROM run WHERE ${IN_GROUP} AND run.started_at IS NULL) ORDER BY run.id`;

export function createSlotReads(statements: Statements): Pick<ReadVerbs, "readGroups"> {
  return { readGroups: (groups, now) => readGroups(statements, groups, now) };
}

function readGroups({ rows }: Statements, groups: readonly string[] | null, now: number): GroupMember[] {
  const found = groups === null ? rows(MEMBERS_OF_QUEUES) : rows(MEMBERS_OF_GROUPS, JSON.stringify(groups));
  return found.map((cells) => toMember(cells, now));
}

function toMember(cells: readonly Cell[], now: number): GroupMember {
  const [runId, workflow, group, limit, policy, priority, status, managed, place, ...leased] = cells;
  const lease = unpackLease(leased);
  const concurrency = { group, limit, policy };
  const rest = { runId, workflow, concurrency, status, place, managed: managed === 1 };
  const owner = lease === null || isFree(lease, now) ? null : lease.owner;
  return { ...rest, priority: priority ?? DEFAULT_PRIORITY, owner } as GroupMember;
}

export function createSlotWrites(statements: Statements): Pick<WriteVerbs, "takeSlot"> {
  return { takeSlot: (request) => takeSlot(statements, request) };
}

function takeSlot(statements: Statements, { runId, fence, now, deadOwners }: SlotRequest): boolean {
  const held = statements.row<readonly [string | null, number | null]>(
    `SELECT run.concurrency_group, run.place FROM run JOIN lease ON lease.run_id = run.id
     WHERE run.id = ? AND run.finished_at IS NULL AND lease.fence = ? AND lease.owner IS NOT NULL`,
    ...[runId, fence],
  );
  if (held === null || held[0] === null) return false;
  if (held[1] !== null) return true;
  const members = readGroups(statements, [held[0]], now);
  if (nextInGroup(members, deadOwners)?.runId !== runId) return false;
  givePlace(statements, runId, held[0]);
  return true;
}

/** Claims managed runs whose turn it is in their groups, each with its place, which it may already have. */
export function claimPlaced(statements: Statements, request: ClaimRequest): number[] {
  const { limit, now, deadOwners = [], except = [] } = request;
  const isHeld = (owner: LeaseOwner | null) =>
    owner !== null && !deadOwners.some((dead) => isSameOwner(dead, owner));
  const mayTake = ({ runId, owner }: GroupMember) => !except.includes(runId) && !isHeld(owner);
  const found = readGroups(statements, null, now);
  const ours = found.filter(({ managed, status }) => managed && status === "pending");
  const claimed = ours.filter((each) => each.place !== null && mayTake(each)).slice(0, limit);
  for (const group of new Set(ours.map(({ concurrency }) => concurrency.group))) {
    while (claimed.length < limit) {
      const next = nextInGroup(readGroups(statements, [group], now), deadOwners);
      if (next === null || !next.managed || !mayTake(next)) break;
      givePlace(statements, next.runId, group);
      claimed.push(next);
    }
  }
  return claimed.map(({ runId }) => runId);
}

/** Takes a place for a run that a commit starts or reopens. Throws if none is free. */
export function takeSlotNow(statements: Statements, runId: number): void {
  const members = (group: string) => readGroups(statements, [group], 0);
  const sql = "SELECT concurrency_group, group_limit FROM run WHERE id = ?";
  const [group, limit] = statements.row<readonly [string, number]>(sql, runId)!;
  const holders = holdersIn(members(group)).filter((member) => member.runId !== runId);
  if (!hasRoomFor(limit, holders))
    refuseWithoutSlot(
      group,
      holders.map((holder) => holder.runId),
    );
  givePlace(statements, runId, group);
}

function givePlace(statements: Statements, runId: number, group: string): void {
  statements.run("UPDATE run SET place = ? WHERE id = ?", lastPlace(statements, group) + 1, runId);
}

function lastPlace({ row }: Statements, group: string): number {
  const sql = "SELECT max(place) FROM run WHERE concurrency_group = ? AND place IS NOT NULL";
  return row<readonly [number | null]>(sql, group)?.[0] ?? 0;
}

export function createSlotVerbs(thread: Caller): GroupSlotStore {
  return {
    readGroups: (groups, now) => thread.call("readGroups", groups, now),
    takeSlot: (request) => thread.call("takeSlot", request),
  };
}
