import os from "node:os";
import { afterEach, expect, it, vi } from "vitest";
import { elapsedMs, thisMoment } from "./worker-clock.js";

const HOUR_MS = 3_600_000;

afterEach(() => vi.restoreAllMocks());

it.each([5 * HOUR_MS, -5 * HOUR_MS])(
  "nothing has passed because the clock on the wall was set by %i ms",
  (byMs) => {
    const since = thisMoment();
    const now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => now + byMs);
    expect(elapsedMs(since)).toBeGreaterThanOrEqual(0);
    expect(elapsedMs(since)).toBeLessThan(HOUR_MS);
  },
);

it("the time in which the machine slept has passed", () => {
  const since = thisMoment();
  const up = os.uptime();
  vi.spyOn(os, "uptime").mockImplementation(() => up + 120);
  expect(elapsedMs(since)).toBeGreaterThanOrEqual(119_000);
});
