import { describe, expect, it } from "vitest";
import { FINAL_STATUSES, type FinalStatus, type RetentionRule } from "../../file/settings/retention.js";
import { type EndedRun, exceedingRuns } from "./exceeding-runs.js";

const NOW = 1_000_000_000_000;
const DAY = 86_400_000;

const rule = (bounds: Partial<RetentionRule>): RetentionRule => ({
  olderThanMs: null,
  keepLast: null,
  maxBytes: null,
  status: FINAL_STATUSES,
  ...bounds,
});
const run = (id: number, daysAgo: number, more: Partial<EndedRun> = {}): EndedRun => ({
  id,
  workflow: "a",
  status: "completed" as FinalStatus,
  finishedAt: NOW - daysAgo * DAY,
  ...more,
});

function beyond(
  runs: readonly EndedRun[],
  bounds: Partial<RetentionRule>,
  { stay = [], bytes = 10 }: { readonly stay?: readonly number[]; readonly bytes?: number } = {},
): number[] {
  const found = exceedingRuns(runs, rule(bounds), {
    now: NOW,
    bytesOf: () => bytes,
    mustStay: ({ id }) => stay.includes(id),
  });
  return found.map(({ run: { id } }) => id);
}

describe("runs beyond a bound", () => {
  it("are those that ended longer ago", () => {
    expect(beyond([run(3, 1), run(2, 30), run(1, 31)], { olderThanMs: 30 * DAY })).toEqual([1]);
  });

  it("are those that ended at a time that cannot be", () => {
    expect(beyond([run(1, -1e9)], { olderThanMs: 30 * DAY })).toEqual([1]);
  });

  it("are all but the last of each workflow, whatever other workflows do", () => {
    const runs = [run(5, 1), run(4, 2), run(3, 3, { workflow: "rare" }), run(2, 4), run(1, 5)];
    expect(beyond(runs, { keepLast: 2 })).toEqual([2, 1]);
    expect(beyond(runs, { keepLast: 0 })).toEqual([5, 4, 3, 2, 1]);
  });

  it("are the oldest until the others fit, also small ones behind a large one", () => {
    const runs = [run(3, 1), run(2, 2), run(1, 3)];
    expect(beyond(runs, { maxBytes: 20 })).toEqual([1]);
    expect(beyond(runs, { maxBytes: 30 })).toEqual([]);
    const sizes = new Map([
      [3, 10],
      [2, 100],
      [1, 1],
    ]);
    const found = exceedingRuns(runs, rule({ maxBytes: 50 }), {
      now: NOW,
      bytesOf: ({ id }) => sizes.get(id)!,
      mustStay: () => false,
    });
    expect(found.map(({ run: { id } }) => id)).toEqual([2, 1]);
    expect(found[0]!.because).toBe("all files together exceed 50 bytes");
  });

  it("do not make others stay: what goes for its age takes no room", () => {
    const runs = [run(3, 1), run(2, 40), run(1, 2)];
    expect(beyond(runs, { olderThanMs: 30 * DAY, maxBytes: 20 })).toEqual([2]);
  });

  it("stay where they are needed, and take their room and place all the same", () => {
    const runs = [run(3, 1), run(2, 2), run(1, 3)];
    expect(beyond(runs, { keepLast: 1 }, { stay: [2] })).toEqual([1]);
    expect(beyond([run(4, 0.5), ...runs], { maxBytes: 25 }, { stay: [2] })).toEqual([1]);
  });

  it("are looked for only among those that ended so", () => {
    const runs = [run(3, 1), run(2, 2, { status: "failed" }), run(1, 3)];
    expect(beyond(runs, { keepLast: 0, status: ["completed"] })).toEqual([3, 1]);
    expect(beyond(runs, { keepLast: 1, status: ["completed"] })).toEqual([1]);
  });
});
