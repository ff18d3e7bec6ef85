import type { Needs, Place } from "../worker.js";
import { isWide, mayGoAhead } from "./backfill.js";
import { fits, type Room, type Taker } from "./room.js";

type RoomNeeds = Pick<Needs, "slots" | "memoryBytes" | "gpus" | "runtimeMs">;

interface LocalPlace extends Place {
  readonly taker: Taker;
}

/** Resources besides slots. */
export interface Extent {
  readonly memoryBytes: number;
  /** The names of GPUs. */
  readonly gpus: readonly string[];
}

export interface LocalRoomOptions {
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
  place(needs: RoomNeeds): Place | "full" | null {
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

  release(place: Place): void {
    const held = place as LocalPlace;
    if (!this.held.delete(held)) return;
    this.slotsInUse -= held.taker.slots;
    this.memoryInUse -= held.taker.memoryBytes;
    for (const gpu of held.gpus ?? []) this.gpusInUse.delete(gpu);
  }

  /** Frees room before its attempt has reported. Releasing it again has no effect. */
  giveEarly(place: Place): void {
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
