const WINDOW_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** Counts, for each of many, what it has done in the minute that began with its first. */
export class RateWindow {
  private readonly entries = new Map<string, { count: number; since: number }>();

  constructor(
    private readonly most: number,
    private readonly now: () => number,
  ) {}

  /** 0: it is within the limit. Else the seconds until it may come again. */
  count(key: string): number {
    const now = this.now();
    let entry = this.entries.get(key);
    // One from later than now was noted before the clock was set back.
    if (entry === undefined || now < entry.since || now - entry.since >= WINDOW_MS) {
      if (this.entries.size >= MAX_REMEMBERED) this.entries.clear();
      entry = { count: 0, since: now };
      this.entries.set(key, entry);
    }
    entry.count += 1;
    return entry.count <= this.most ? 0 : Math.ceil((entry.since + WINDOW_MS - now) / 1_000);
  }
}
