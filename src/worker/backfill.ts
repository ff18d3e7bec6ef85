import { fits, minus, plus, type Room, type Taker } from "./room.js";

/** Something that wants room, and for how long at most; null: it does not say. */
interface Wanting extends Room {
  readonly runtimeMs: number | null;
}

/** A worker at one moment. */
export interface Occupied {
  readonly free: Room;
  readonly takers: readonly Taker[];
  /** By the clock that nobody sets. */
  readonly now: number;
}

/**
 * An attempt that asks for more than one slot may wait for ever while small ones take each slot that becomes free. Where
 * nobody has room for it, one worker keeps its room for it; this is what others may still have of that worker. They may
 * go ahead if that cannot delay it: they are over before it can begin, or there is room for both then.
 */
export function mayGoAhead(small: Wanting, wide: Room, worker: Occupied): boolean {
  const beginning = beginningOf(wide, worker);
  if (beginning === null) return false;
  const isOver = small.runtimeMs !== null && worker.now + small.runtimeMs <= beginning.at;
  return isOver || fits(small, beginning.spare);
}

/** When there is room for it at the latest, and what is left beside it then; null: nobody knows when. */
export function beginningOf(
  wide: Room,
  { free, takers, now }: Occupied,
): { readonly at: number; readonly spare: Room } | null {
  let [room, at] = [free, now];
  for (const { endsAt, ...taken } of [...takers].sort(byEnd)) {
    if (fits(wide, room)) break;
    if (endsAt === null) return null;
    room = plus(room, taken);
    at = Math.max(at, endsAt);
  }
  return fits(wide, room) ? { at, spare: minus(room, wide) } : null;
}

/** Whether it may have to wait while smaller ones do not. */
export function isWide({ slots, memoryBytes, gpus }: Omit<Room, "cpus">): boolean {
  return slots > 1 || memoryBytes > 0 || gpus > 0;
}

function byEnd(one: Taker, other: Taker): number {
  return (one.endsAt ?? Infinity) - (other.endsAt ?? Infinity) || 0;
}
