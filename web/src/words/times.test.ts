import { afterEach, describe, expect, it, vi } from "vitest";
import { exactTime, namedTime, since, zone } from "./times.js";

const AT = "2026-03-09T20:45:10.000Z";
const later = (ms: number): number => Date.parse(AT) + ms;
const HOUR_MS = 3_600_000;

describe("times", () => {
  afterEach(() => {
    zone.choose("UTC");
    vi.restoreAllMocks();
  });
  /** Makes the local time zone this many minutes ahead of UTC. */
  const live = (ahead: number): void => {
    vi.spyOn(Date.prototype, "getTimezoneOffset").mockReturnValue(-ahead);
  };

  it("are ages up to an hour, then the time of day, then the date, and always name their zone", () => {
    expect([
      since(AT, later(30_000)),
      since(AT, later(59 * 60_000)),
      since(AT, later(HOUR_MS)),
      since(AT, later(12 * HOUR_MS)),
      since(AT, later(400 * 24 * HOUR_MS)),
    ]).toEqual(["just now", "59 min ago", "20:45:10 UTC", "9 Mar 20:45 UTC", "2026-03-09 20:45:10 UTC"]);
  });

  it("are as the clocks here have them where somebody prefers that", () => {
    live(330);
    let told = 0;
    const unwatch = zone.watch(() => {
      told += 1;
    });
    zone.choose("local");
    expect([namedTime(AT), exactTime(AT)]).toEqual(["02:15:10 UTC+5:30", "2026-03-10 02:15:10 UTC+5:30"]);
    expect(since(AT, later(HOUR_MS))).toBe("02:15:10 UTC+5:30");
    live(-240);
    expect(namedTime(AT)).toBe("16:45:10 UTC-4");
    zone.choose("UTC");
    expect(namedTime(AT)).toBe("20:45:10 UTC");
    expect(told).toBe(2);
    unwatch();
  });
});
