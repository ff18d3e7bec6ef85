import { DarumaError } from "../core/errors/errors.js";
import type { RunRow } from "../core/model/rows.js";
import { isSameOwner } from "./lease-rules.js";
import type { GroupMember } from "./places.js";
import type { LeaseOwner } from "./store.js";

interface Standing {
  readonly place: number | null;
  readonly finished_at: number | null;
}

/** Whether a commit that makes this of a run needs a place for it. `before` is null for a new run. */
export function seeksPlace(before: Standing | null, after: RunRow): boolean {
  const isUnderWay = after.started_at !== null && after.finished_at === null;
  if (after.concurrency === null || !isUnderWay) return false;
  return before === null || before.finished_at !== null || before.place === null;
}

/** The run waits for a place, and somebody is there to go on with it: its process, or any server. */
export function isWaiting(member: GroupMember, deadOwners: readonly LeaseOwner[] = []): boolean {
  const { place, status, managed, owner } = member;
  if (place !== null || status !== "pending") return false;
  return managed || (owner !== null && !deadOwners.some((dead) => isSameOwner(dead, owner)));
}

/** The members that wait, in the order in which they get places: by priority, then by age. */
export function queueOf(
  members: readonly GroupMember[],
  deadOwners: readonly LeaseOwner[] = [],
): GroupMember[] {
  const waiting = members.filter((member) => isWaiting(member, deadOwners));
  return waiting.sort((a, b) => b.priority - a.priority || a.runId - b.runId);
}

/** Of one group: who takes the next place now. Null: nobody waits, or who is first must wait on, and all others behind it. */
export function nextInGroup(
  members: readonly GroupMember[],
  deadOwners: readonly LeaseOwner[] = [],
): GroupMember | null {
  const [first] = queueOf(members, deadOwners);
  if (first === undefined || !hasRoomFor(first.concurrency.limit, holdersIn(members))) return null;
  // It replaces all that came before it, and begins when they are over.
  const replaces = first.concurrency.policy === "cancel_running";
  return replaces && members.some(({ runId }) => runId < first.runId) ? null : first;
}

export function holdersIn(members: readonly GroupMember[]): GroupMember[] {
  return members.filter(({ place }) => place !== null);
}

/** Of several limits for one group the smallest counts: that of the new run, and that of each run that is under way. */
export function hasRoomFor(limit: number, holders: readonly Pick<GroupMember, "concurrency">[]): boolean {
  return holders.length < Math.min(limit, ...holders.map(({ concurrency }) => concurrency.limit));
}

/** Refuses a commit that needs a place where none is free. */
export function refuseWithoutPlace(group: string, holders: readonly number[]): never {
  const have = holders.length === 1 ? "has it" : "have them";
  const runs = `run${holders.length === 1 ? "" : "s"} ${holders.join(", ")}`;
  throw new DarumaError("GROUP_BUSY", `no place is free in the group ${group}: ${runs} ${have}`);
}
