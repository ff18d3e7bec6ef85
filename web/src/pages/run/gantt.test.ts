import { describe, expect, it } from "vitest";
import { axisAnchor, axisMarks, axisText, drawnJumps, numbersBeside, sumsOf } from "./gantt.js";
import type { TimelineRow } from "./run-data.js";

describe("the timeline on the page", () => {
  it("has a few marks at round places, however long the run is", () => {
    expect(axisMarks(17_300)).toEqual([0, 5_000, 10_000, 15_000]);
    expect(axisMarks(9)).toEqual([0, 2, 4, 6, 8]);
    for (const total of [1, 77, 86_400_000, 3e9]) expect(axisMarks(total).length).toBeLessThanOrEqual(8);
    expect(axisMarks(7 * 60_000, 4)).toEqual([0, 120_000, 240_000, 360_000]);
  });

  it("names its marks in one unit", () => {
    const named = (total: number) => axisMarks(total).map((ms, _, all) => axisText(ms, all));
    expect(named(17_300)).toEqual(["0 s", "5 s", "10 s", "15 s"]);
    expect(named(900)).toEqual(["0 ms", "200 ms", "400 ms", "600 ms", "800 ms"]);
    expect(named(200_000)).toEqual(["0 s", "30 s", "60 s", "90 s", "120 s", "150 s", "180 s"]);
    expect(named(7 * 3_600_000).at(-1)).toBe("7 h");
  });

  it("names no mark over the name of another", () => {
    const room = { width: 500, text: 48 };
    expect(axisAnchor(470, { ...room, before: 410 })).toBe("middle");
    expect(axisAnchor(490, { ...room, before: 400 })).toBe("end");
    expect(axisAnchor(490, { ...room, before: 430 })).toBeNull();
    expect(axisAnchor(490, { ...room, before: null })).toBe("end");
  });

  it("sums up work and pauses, and finds the longest wait for a slot", () => {
    const slot = (from_ms: number, to_ms: number) => ({ kind: "slot", from_ms, to_ms });
    const rows = [
      { step: "a", busy_ms: 5, waited_ms: 1, spans: [slot(0, 30)] },
      { step: "b", busy_ms: 7, waited_ms: 0, spans: [slot(0, 20), { kind: "pause", from_ms: 0, to_ms: 99 }] },
    ] as unknown as TimelineRow[];
    expect(sumsOf(rows)).toEqual({ busyMs: 12, waitedMs: 1, slot: { step: "a", ms: 30 } });
  });

  it("draws jumps between steps that have rows", () => {
    const jump = (from: string, to: string) => ({ kind: "goto" as const, from, to, at_ms: 1, seq: 2 });
    const rowOf = new Map([
      ["a", 0],
      ["b", 3],
    ]);
    expect(drawnJumps({ jumps: [jump("b", "a"), jump("a", "a"), jump("a", "gone")] }, rowOf)).toEqual([
      { kind: "goto", seq: 2, ms: 1, from: 3, to: 0 },
    ]);
  });
});

it("all numbers of a step have room beside its name, however many there are", () => {
  expect(numbersBeside(1)).toEqual({ apart: 18, room: 16 });
  expect(numbersBeside(2)).toEqual({ apart: 18, room: 16 });
  expect(numbersBeside(4)).toEqual({ apart: 18, room: 10 });
  const many = numbersBeside(19);
  expect([many.apart, many.room]).toEqual([3, 10]);
});
