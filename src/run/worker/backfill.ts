import { fits, minus, plus, type Room, type Taker } from "./room.js";

/** A request for room; `runtimeMs` is null if its duration is unknown. */
interface Wanting extends Room {
  readonly runtimeMs: number | null;
}

/** The state of a worker at one moment. */
export interface Occupied {
  readonly free: Room;
  readonly takers: readonly Taker[];
  /** The time on the monotonic clock. */
  readonly now: number;
}

/**
 * Whether a small attempt may go ahead of a wide one. An attempt that needs more than one slot could wait forever while
 * small ones take each slot that becomes free. If no worker has room for it, one worker reserves its room, and this is
 * what others may still use of it: they may go ahead if that cannot delay the wide one, because they end before it can
 * begin, or because there is room for both then.
 */
export function mayGoAhead(small: Wanting, wide: Room, worker: Occupied): boolean {
  const beginning = beginningOf(wide, worker);
  if (beginning === null) return false;
  const isOver = small.runtimeMs !== null && worker.now + small.runtimeMs <= beginning.at;
  return isOver || fits(small, beginning.spare);
}

/** When there will be room for it at the latest, and what is left beside it then. Null if unknown. */
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
