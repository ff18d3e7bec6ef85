import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { settle } from "../../../test/support/pool-bench.js";
import type { RunRow } from "../../core/model/rows.js";
import { EndedRuns, KEPT_AFTER_END_MS } from "./ended-runs.js";

const row = (id: number, finishedAt: number | null): RunRow => ({ id, finished_at: finishedAt }) as RunRow;

describe("runs that ended some time ago", () => {
  it("are told the next time they are asked for, and not before their files were kept for a while", async () => {
    const clock = new ManualClock();
    const rows = [row(1, clock.now()), row(2, null)];
    const ended = new EndedRuns({ readRun: async (id) => rows.find((one) => one.id === id) ?? null }, clock);
    clock.advance(KEPT_AFTER_END_MS - 1);
    ended.among([1, 2, 3]);
    await settle();
    expect(ended.among([1, 2, 3])).toEqual([]);
    clock.advance(30_001);
    expect(ended.among([1, 2, 3])).toEqual([]);
    await settle();
    expect(ended.among([1, 2, 3])).toEqual([1]);
  });

  it("may be brought back: what was read is not believed for long", async () => {
    const clock = new ManualClock();
    const rows = [row(1, 0)];
    const ended = new EndedRuns({ readRun: async () => rows[0]! }, clock);
    ended.among([1]);
    await settle();
    rows[0] = row(1, null);
    clock.advance(30_001);
    expect(ended.among([1])).toEqual([]);
    await settle();
    expect(ended.among([1])).toEqual([]);
  });

  it("are asked for again when the store was away", async () => {
    const clock = new ManualClock();
    let isAway = true;
    const readRun = async (): Promise<RunRow> => {
      if (isAway) throw new Error("away");
      return row(1, 0);
    };
    const ended = new EndedRuns({ readRun }, clock);
    expect(ended.among([1])).toEqual([]);
    await settle();
    isAway = false;
    expect(ended.among([1])).toEqual([]);
    await settle();
    expect(ended.among([1])).toEqual([1]);
  });
});
