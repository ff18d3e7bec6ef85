import { DarumaError } from "../core/errors/errors.js";
import type { RunConcurrency } from "../core/groups/concurrency.js";
import type { RunRow, RunStatus } from "../core/model/rows.js";
import { isSameOwner } from "./lease-rules.js";
import type { LeaseOwner } from "./store.js";

/** An unfinished run of a concurrency group. */
export interface GroupMember {
  readonly runId: number;
  readonly workflow: string;
  readonly concurrency: RunConcurrency;
  readonly priority: number;
  readonly status: RunStatus;
  readonly managed: boolean;
  /** The number of its place among all that the group has ever given; null if it has none. */
  readonly place: number | null;
  /** The holder of its lease, unless that has expired. */
  readonly owner: LeaseOwner | null;
}

export interface SlotRequest {
  readonly runId: number;
  /** The token of the run's lease. */
  readonly fence: number;
  readonly now: number;
  /** Owners whose processes are gone for good. Their runs need not be waited for. */
  readonly deadOwners?: readonly LeaseOwner[];
}

/**
 * Slots: the places of concurrency groups. Every started, unfinished run has one, in whichever process: a commit that starts a run
 * without a place, or reopens it, takes a free one or fails with GROUP_BUSY. The end of a run frees its place.
 */
export interface GroupSlotStore {
  /** Unfinished runs of these groups, by id. Null for all groups with a run that has not begun. */
  readGroups(groups: readonly string[] | null, now: number): Promise<GroupMember[]>;
  /**
   * Takes a place for a run that has not begun, if it is the run's turn. Returns true if the run now has one, or had
   * one before. Servers take places for their runs with `claimRuns`.
   */
  takeSlot(request: SlotRequest): Promise<boolean>;
}

/** Whether a change of this row can affect the queue: it may let a waiting run begin, or the run itself waits. */
export function changesQueue({ concurrency, started_at, finished_at }: RunRow): boolean {
  return concurrency !== null && (finished_at !== null || started_at === null);
}

/** What the row of a run says of its place. */
export interface Standing {
  readonly place: number | null;
  readonly finished_at: number | null;
}

/** Whether a run with this row has a place in its group, or needs one. */
export function isUnderWay({ concurrency, started_at, finished_at }: RunRow): boolean {
  return concurrency !== null && started_at !== null && finished_at === null;
}

/** Whether a commit that leaves its run under way takes a place for it. `before` is the run's row so far. */
export function seeksSlot(before: Standing | undefined): boolean {
  return before === undefined || before.finished_at !== null || before.place === null;
}

/** Whether the run waits for a place and can continue: its process lives, or any server may take it. */
function isWaiting(member: GroupMember, deadOwners: readonly LeaseOwner[] = []): boolean {
  const { place, status, managed, owner } = member;
  if (place !== null || status !== "pending") return false;
  return managed || (owner !== null && !deadOwners.some((dead) => isSameOwner(dead, owner)));
}

/** The waiting members in the order in which they get places: by priority, then by age. */
export function queueOf(
  members: readonly GroupMember[],
  deadOwners: readonly LeaseOwner[] = [],
): GroupMember[] {
  const waiting = members.filter((member) => isWaiting(member, deadOwners));
  return waiting.sort((a, b) => b.priority - a.priority || a.runId - b.runId);
}

/**
 * The member of a group that takes the next place now. Null if none waits, or if the first one must wait on, which also
 * blocks those behind it.
 */
export function nextInGroup(
  members: readonly GroupMember[],
  deadOwners: readonly LeaseOwner[] = [],
): GroupMember | null {
  const [first] = queueOf(members, deadOwners);
  if (first === undefined || !hasRoomFor(first.concurrency.limit, holdersIn(members))) return null;
  // It replaces all earlier runs, and begins when they are over.
  const replaces = first.concurrency.policy === "cancel_running";
  return replaces && members.some(({ runId }) => runId < first.runId) ? null : first;
}

export function holdersIn(members: readonly GroupMember[]): GroupMember[] {
  return members.filter(({ place }) => place !== null);
}

/** Whether a group has room. The smallest limit applies: that of the new run, and that of each running one. */
export function hasRoomFor(limit: number, holders: readonly Pick<GroupMember, "concurrency">[]): boolean {
  return holders.length < Math.min(limit, ...holders.map(({ concurrency }) => concurrency.limit));
}

/** Refuses a commit that needs a place when none is free. */
export function refuseWithoutSlot(group: string, holders: readonly number[]): never {
  const have = holders.length === 1 ? "has it" : "have them";
  const runs = `run${holders.length === 1 ? "" : "s"} ${holders.join(", ")}`;
  throw new DarumaError("GROUP_BUSY", `no place is free in the group ${group}: ${runs} ${have}`);
}
