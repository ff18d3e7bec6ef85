import { type GroupMember, holdersIn, queueOf } from "../../../store/group-slots.js";

/** What a run that has not begun waits for. */
export interface PlaceWait {
  /** 1 means that it is next. Null means that no process continues it, so it is not in a queue. */
  readonly position: number | null;
  /** The runs that must end, or begin, before it. */
  readonly runs: readonly number[];
  readonly text: string;
}

/** What a run waits for, given the members of its group. */
export function placeWait(own: GroupMember, members: readonly GroupMember[]): PlaceWait {
  const { group, policy } = own.concurrency;
  const queue = queueOf(members);
  const index = queue.findIndex(({ runId }) => runId === own.runId);
  const position = index < 0 ? null : index + 1;
  const before = queue.slice(0, Math.max(0, index)).map(({ runId }) => runId);
  const holders = holdersIn(members).map(({ runId }) => runId);
  if (own.place !== null)
    return {
      position: null,
      runs: [],
      text: `it has its place in the group ${group} and starts when a process runs it`,
    };
  if (own.status === "paused") return { position: null, runs: [], text: "it is paused" };
  if (position === null) {
    const text = `no process waits for its place in the group ${group}`;
    return { position, runs: [], text };
  }
  const replaced = members.filter(({ runId }) => runId < own.runId).map(({ runId }) => runId);
  if (policy === "cancel_running" && replaced.length > 0) {
    const text = `it replaces ${runsText(replaced)} of the group ${group} and waits until ${replaced.length === 1 ? "that run is" : "they are"} over`;
    return { position, runs: replaced, text };
  }
  const ahead =
    before.length === 0 ? "" : `; ${runsText(before)} ${before.length === 1 ? "is" : "are"} before it`;
  if (holders.length > 0) {
    const have = holders.length === 1 ? "has the place" : "have all places";
    const text = `it waits for ${runsText(holders)}, which ${have} in the group ${group}${ahead}`;
    return { position, runs: [...holders, ...before], text };
  }
  const text = own.managed
    ? `it is in the queue of the group ${group}, and a server takes it when it is its turn${ahead}`
    : `it is in the queue of the group ${group}${ahead}`;
  return { position, runs: before, text };
}

/** A text such as `it waits for run 7, which has the place in the group deploy (position 2)`. */
export function queuedText({ position, text }: Pick<PlaceWait, "position" | "text">): string {
  return position === null ? text : `${text} (position ${position})`;
}

const MAX_NAMED = 3;

function runsText(runs: readonly number[]): string {
  const named = runs.slice(0, MAX_NAMED).map(String);
  const more = runs.length - named.length;
  const all = more > 0 ? [...named, `${more} more`] : named;
  const last = all.pop()!;
  return `run${runs.length === 1 ? "" : "s"} ${all.length === 0 ? last : `${all.join(", ")} and ${last}`}`;
}
