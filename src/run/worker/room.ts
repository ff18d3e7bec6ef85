import type { Needs, Seat } from "../worker.js";

/** The resources of a worker, or those that an attempt takes of it. */
export interface Room {
  readonly slots: number;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
}

/** The resources that an attempt takes. */
export interface Taker extends Room {
  /** When it is over at the latest, on the monotonic clock. Null if unknown. */
  readonly endsAt: number | null;
}

export const NO_ROOM: Room = { slots: 0, cpus: 0, memoryBytes: 0, gpus: 0 };

export function fits(needs: Room, free: Room): boolean {
  return (
    needs.slots <= free.slots &&
    needs.cpus <= free.cpus &&
    needs.memoryBytes <= free.memoryBytes &&
    needs.gpus <= free.gpus
  );
}

export function plus(one: Room, other: Room): Room {
  return {
    slots: one.slots + other.slots,
    cpus: one.cpus + other.cpus,
    memoryBytes: one.memoryBytes + other.memoryBytes,
    gpus: one.gpus + other.gpus,
  };
}

export function minus(one: Room, other: Room): Room {
  return {
    slots: one.slots - other.slots,
    cpus: one.cpus - other.cpus,
    memoryBytes: one.memoryBytes - other.memoryBytes,
    gpus: one.gpus - other.gpus,
  };
}

type RoomNeeds = Pick<Needs, "slots" | "memoryBytes" | "gpus" | "runtimeMs">;

interface LocalPlace extends Seat {
  readonly taker: Taker;
}

/** Resources besides slots. */
export interface Extent {
  readonly memoryBytes: number;
  /** The names of GPUs. */
  readonly gpus: readonly string[];
}

interface LocalRoomOptions {
  /** Called once, when a step first asks for such a resource. Without it, memory is unlimited and there are no GPUs. */
  readonly extent?: () => Extent;
  /** The time on the monotonic clock. */
  readonly elapsed?: () => number;
  /** Called once, for the first place. Without it there is no bash. */
  readonly hasBash?: () => boolean;
}

const ENDLESS: Extent = { memoryBytes: Number.POSITIVE_INFINITY, gpus: [] };

/** Counts the room of a worker that accepts whatever it is given. GPUs are assigned by name. */
export class LocalRoom {
  private readonly held = new Set<LocalPlace>();
  private readonly listeners = new Set<() => void>();
  private slotsInUse = 0;
  private memoryInUse = 0;
  private readonly gpusInUse = new Set<string>();
  private keptFor: Room | null = null;
  private known: Extent | null = null;
  private bash: boolean | null = null;

  constructor(
    private readonly worker: string,
    readonly slots: number,
    private readonly options: LocalRoomOptions = {},
  ) {}

  /**
   * Reserves a place. An attempt that needs more than exists gets in alone; GPUs that do not exist are not assigned.
   */
  place(needs: RoomNeeds): Seat | "full" | null {
    const wanted = this.atMost(needs);
    const { free } = this;
    const now = this.options.elapsed?.() ?? 0;
    if (needs.slots > 0) {
      if (free.slots <= 0) return "full";
      if (!fits(wanted, free)) return null;
      const { runtimeMs } = needs;
      const takers = (): Taker[] => [...this.held].map(({ taker }) => taker);
      if (
        this.keptFor !== null &&
        !mayGoAhead({ ...wanted, runtimeMs }, this.keptFor, { free, takers: takers(), now })
      )
        return null;
    }
    const endsAt = needs.runtimeMs === null ? null : now + needs.runtimeMs;
    return this.take({ ...wanted, endsAt });
  }

  /** Reserves room for an attempt that has none, so that later ones do not delay it. */
  keepFor(needs: RoomNeeds | null): boolean {
    this.keptFor = needs === null || this.slots === 0 || !isWide(needs) ? null : this.atMost(needs);
    return this.keptFor !== null;
  }

  release(place: Seat): void {
    const held = place as LocalPlace;
    if (!this.held.delete(held)) return;
    this.slotsInUse -= held.taker.slots;
    this.memoryInUse -= held.taker.memoryBytes;
    for (const gpu of held.gpus ?? []) this.gpusInUse.delete(gpu);
  }

  /** Frees room before its attempt has reported. Releasing it again has no effect. */
  giveEarly(place: Seat): void {
    this.release(place);
    for (const listener of this.listeners) listener();
  }

  /** Calls the listener when room becomes free before a report. Returns a function that removes it. */
  onEarly(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  get used(): number {
    return this.slotsInUse;
  }

  get extent(): Extent {
    this.known ??= this.options.extent?.() ?? ENDLESS;
    return this.known;
  }

  private take(taker: Taker): LocalPlace {
    const names = taker.gpus === 0 ? [] : this.extent.gpus.filter((gpu) => !this.gpusInUse.has(gpu));
    const gpus = names.slice(0, taker.gpus);
    this.bash ??= this.options.hasBash?.() ?? false;
    const place: LocalPlace = {
      ...{ worker: this.worker, taker, hasBash: this.bash },
      ...(gpus.length === 0 ? {} : { gpus }),
    };
    this.held.add(place);
    this.slotsInUse += taker.slots;
    this.memoryInUse += taker.memoryBytes;
    for (const gpu of gpus) this.gpusInUse.add(gpu);
    return place;
  }

  private atMost({ slots, memoryBytes, gpus }: RoomNeeds): Room {
    return {
      slots: Math.min(slots, this.slots),
      cpus: 0,
      memoryBytes: memoryBytes === 0 ? 0 : Math.min(memoryBytes, this.extent.memoryBytes),
      gpus: gpus === 0 || gpus > this.extent.gpus.length ? 0 : gpus,
    };
  }

  private get free(): Room {
    const isAsked = this.known !== null;
    return {
      slots: this.slots - this.slotsInUse,
      cpus: 0,
      memoryBytes: (isAsked ? this.extent.memoryBytes : ENDLESS.memoryBytes) - this.memoryInUse,
      gpus: (isAsked ? this.extent.gpus.length : 0) - this.gpusInUse.size,
    };
  }
}

export function hasTags(offered: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((tag) => offered.includes(tag));
}

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
