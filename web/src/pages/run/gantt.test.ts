import { describe, expect, it } from "vitest";
import { axisMarks, drawnJumps, numbersBeside, sumsOf } from "./gantt.js";
import type { TimelineRow } from "./run-data.js";

describe("the timeline on the page", () => {
  it("has a few marks at round places, however long the run is", () => {
    expect(axisMarks(17_300)).toEqual([0, 5_000, 10_000, 15_000]);
    expect(axisMarks(9)).toEqual([0, 2, 4, 6, 8]);
    for (const total of [1, 77, 86_400_000, 3e9]) expect(axisMarks(total).length).toBeLessThanOrEqual(6);
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
