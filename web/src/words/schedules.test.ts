import { expect, it } from "vitest";
import { nextWords, ruleWords, type ScheduleItem, scheduleNotes } from "./schedules.js";

const NOW = Date.parse("2026-11-18T00:00:00Z");
const item: ScheduleItem = {
  ...{ workflow: "release", id: "nightly", version: 3, cron: "0 3 * * *", timezone: "Europe/Berlin" },
  ...{ overlap: "skip", catch_up: "last", jitter_ms: 0, paused: null, last: null, refused: null },
  next_at: "2026-11-18T02:05:00.000Z",
  skipped: { count: 0, last: null },
  missed: { count: 0, last: null },
};

it("a schedule says when it starts next, and what differs from the usual", () => {
  expect(nextWords(item, NOW)).toBe("in 2 h 5 min, 2026-11-18 02:05:00 UTC");
  expect(nextWords({ next_at: "2026-11-17T23:59:59Z", paused: null }, NOW)).toMatch(/^now, /);
  expect(nextWords({ next_at: null, paused: null }, NOW)).toBe("never");
  expect(ruleWords(item)).toBe("Europe/Berlin");
  expect(ruleWords({ ...item, overlap: "allow", catch_up: "none", jitter_ms: 300_000 })).toBe(
    "Europe/Berlin, may overlap, missed ticks are dropped, with up to 5 min 00 s of jitter",
  );
});

it("what keeps it from starting comes first", () => {
  const at = "2026-11-17T03:00:00.000Z";
  expect(scheduleNotes(item)).toEqual([]);
  const notes = scheduleNotes({
    ...item,
    skipped: { count: 2, last: at },
    missed: { count: 1, last: at },
    paused: { by: "ann", at, reason: "release week" },
    refused: { tick: at, code: "INVALID_INPUT", message: "target is missing", at },
  });
  expect(notes).toEqual([
    { tone: "bad", text: "No run for 2026-11-17 03:00:00 UTC: target is missing (INVALID_INPUT)." },
    { tone: "dim", text: "Paused by ann since 2026-11-17 03:00:00 UTC: release week." },
    { tone: "dim", text: "2 ticks skipped because a run of it was not over, last 2026-11-17 03:00:00 UTC." },
    { tone: "dim", text: "1 tick missed because no server was running, last 2026-11-17 03:00:00 UTC." },
  ]);
});
