import { describe, expect, it } from "vitest";
import { parseMoment } from "./moment.js";

const NOW = Date.parse("2026-03-02T10:20:30Z");

function readable(text: string): string[] | null {
  const moment = parseMoment(text, NOW);
  return moment === null ? null : [moment.from, moment.to].map((at) => new Date(at).toISOString());
}

describe("a time as people say it", () => {
  it.each([
    ["2h", "2026-03-02T08:20:30.000Z", "2026-03-02T08:20:30.000Z"],
    ["90d", "2025-12-02T10:20:30.000Z", "2025-12-02T10:20:30.000Z"],
    ["now", "2026-03-02T10:20:30.000Z", "2026-03-02T10:20:30.000Z"],
    ["today", "2026-03-02T00:00:00.000Z", "2026-03-03T00:00:00.000Z"],
    ["yesterday", "2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"],
    ["2026-02-28", "2026-02-28T00:00:00.000Z", "2026-03-01T00:00:00.000Z"],
    ["2026-02-28 12:30:05", "2026-02-28T12:30:05.000Z", "2026-02-28T12:30:05.000Z"],
    ["2026-02-28T12:30+02:00", "2026-02-28T10:30:00.000Z", "2026-02-28T10:30:00.000Z"],
    ["2026-02-28T12:30:05.123Z", "2026-02-28T12:30:05.123Z", "2026-02-28T12:30:05.123Z"],
  ])("%s is from %s to %s", (text, from, to) => {
    expect(readable(text)).toEqual([from, to]);
  });

  it.each([
    "",
    "2",
    "tomorrow",
    "2026-02-30",
    "2026-13-01",
    "2026-03-01T25:00",
    "1772000000000",
    "2026-3-1",
    "-2h",
  ])("%j is none", (text) => {
    expect(parseMoment(text, NOW)).toBeNull();
  });
});
