import { describe, expect, it } from "vitest";
import { badgePlaces, failuresMet, msOf, recoveryBeside, seqAt, stepBy } from "./moments.js";

const log = {
  events: 20,
  first_at: "2026-01-01T00:00:00.000Z",
  last_at: "2026-01-01T00:00:10.000Z",
  stretch_ms: 100,
  stretches: [
    { from_ms: 0, events: 4, failures: 0, seq: 4 },
    { from_ms: 5_000, events: 6, failures: 1, seq: 10 },
    { from_ms: 9_900, events: 10, failures: 0, seq: 20 },
  ],
};

it("a run met as many failures as attempts of it failed", () => {
  expect(failuresMet(log)).toBe(1);
});

describe("the slider", () => {
  it("finds the last event before a moment, and the end", () => {
    expect([0, 4_999, 5_000, 9_899].map((ms) => seqAt(log, ms))).toEqual([4, 4, 10, 10]);
    expect(seqAt(log, 10_000)).toBeNull();
  });

  it("finds about when an event was", () => {
    expect([1, 5, 10, 11].map((seq) => Math.floor(msOf(log, seq) / 100) * 100)).toEqual([
      0, 5_000, 5_000, 9_900,
    ]);
    expect(msOf(log, null)).toBe(10_000);
  });

  it("goes event by event between the first and the end", () => {
    expect(stepBy(log, null, -1)).toBe(19);
    expect(stepBy(log, 19, 1)).toBeNull();
    expect(stepBy(log, 1, -1)).toBe(1);
  });

  it("goes from recovery to recovery", () => {
    const recoveries = [{ first_seq: 5 }, { first_seq: 9 }];
    expect(recoveryBeside(recoveries, null, -1)).toBe(9);
    expect(recoveryBeside(recoveries, 9, -1)).toBe(5);
    expect(recoveryBeside(recoveries, 5, -1)).toBe(5);
    expect(recoveryBeside(recoveries, 5, 1)).toBe(9);
    expect(recoveryBeside(recoveries, 9, 1)).toBeNull();
  });

  it("moves badges aside, and keeps all of them on the track", () => {
    expect(badgePlaces([10, 50], 5)).toEqual([10, 50]);
    expect(badgePlaces([10, 11, 12], 5)).toEqual([10, 15, 20]);
    expect(badgePlaces([98, 99, 99], 5)).toEqual([90, 95, 100]);
  });
});
