import { number, type OfFields, type Writable } from "../../core/text/shape.js";
/** How many events there were in one stretch of time, from so many milliseconds after the first event; `seq` is the last one's. */
export const STRETCH = { from_ms: number, events: number, failures: number, seq: number } as const;
type Stretch = OfFields<typeof STRETCH>;

/** More than these no picture shows. */
export const MAX_STRETCHES = 240;

/** Counts events by time, in stretches that grow with the log: their number stays bounded, however long it is. */
export class Density {
  private readonly counted = new Map<number, Writable<Stretch>>();
  private width = 1;

  add(ms: number, seq: number, failed: boolean): void {
    while (Math.floor(ms / this.width) >= MAX_STRETCHES) this.widen();
    const place = Math.floor(ms / this.width);
    let stretch = this.counted.get(place);
    if (stretch === undefined) {
      stretch = { from_ms: place * this.width, events: 0, failures: 0, seq };
      this.counted.set(place, stretch);
    }
    stretch.events += 1;
    if (failed) stretch.failures += 1;
    stretch.seq = Math.max(stretch.seq, seq);
  }

  /** The stretches with events, oldest first, and their length. */
  get result(): { readonly width: number; readonly stretches: readonly Stretch[] } {
    const stretches = [...this.counted.values()].sort((one, other) => one.from_ms - other.from_ms);
    return { width: this.width, stretches: stretches.map((stretch) => ({ ...stretch })) };
  }

  private widen(): void {
    const before = [...this.counted.values()];
    this.width *= 2;
    this.counted.clear();
    for (const { from_ms, events, failures, seq } of before) {
      const place = Math.floor(from_ms / this.width);
      const known = this.counted.get(place);
      this.counted.set(place, {
        from_ms: place * this.width,
        events: events + (known?.events ?? 0),
        failures: failures + (known?.failures ?? 0),
        seq: Math.max(seq, known?.seq ?? 0),
      });
    }
  }
}
