import type { Needs, Place } from "./worker.js";

interface LocalPlace extends Place {
  readonly slots: number;
}

/** The slots of a worker that takes whatever it is given, counted. */
export class LocalRoom {
  private readonly held = new Set<LocalPlace>();
  private inUse = 0;

  constructor(
    private readonly worker: string,
    readonly slots: number,
  ) {}

  /** An attempt that wants more than there is gets in alone. */
  place({ slots }: Pick<Needs, "slots">): Place | "full" {
    const fits = this.inUse + slots <= this.slots || (this.inUse === 0 && this.slots > 0);
    if (slots > 0 && !fits) return "full";
    const place: LocalPlace = { worker: this.worker, slots };
    this.held.add(place);
    this.inUse += slots;
    return place;
  }

  release(place: Place): void {
    const held = place as LocalPlace;
    if (this.held.delete(held)) this.inUse -= held.slots;
  }

  get used(): number {
    return this.inUse;
  }
}

export function hasTags(offered: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((tag) => offered.includes(tag));
}
