import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runRow } from "../../../test/contract/store-fixtures.js";
import type { Append } from "../store.js";
import { Announcements, TOLD_TOGETHER_MS } from "./announcements.js";
import type { Session } from "./connection-pool.js";

const change = (runId: number, kind = "events"): string => `${kind}:${runId}:me`;

function grown(runId: number, changes: Partial<Append> = {}): Append {
  const events = [{ at: 1, type: "run.paused", data: "{}" }];
  return { runId, fence: 1, firstSeq: 1, events, run: null, jobs: [], attempts: [], routes: [], ...changes };
}

describe("what is told of commits", () => {
  let told: string[] = [];
  let due = 0;
  let announcements: Announcements;
  const session: Session = {
    rows: async (_text, list) => {
      told.push(String(list));
      return [];
    },
    script: async () => {},
  };
  /** A commit that takes as long as a test likes, in two halves. */
  const commit = (...appends: Append[]): string[] => {
    const within = announcements.within(appends);
    announcements.committed(appends, within);
    return within;
  };

  beforeEach(() => {
    vi.useFakeTimers();
    told = [];
    due = 0;
    announcements = new Announcements("me", () => {
      due += 1;
      void announcements.tellRest(session);
    });
  });
  afterEach(() => vi.useRealTimers());

  it("goes with the commit if none was told of just before, else together a moment later", () => {
    expect(commit(grown(1))).toEqual([change(1)]);
    expect(commit(grown(1))).toEqual([]);
    expect(commit(grown(2), grown(3))).toEqual([]);
    vi.advanceTimersByTime(TOLD_TOGETHER_MS - 1);
    expect([due, told]).toEqual([0, []]);
    vi.advanceTimersByTime(1);
    expect(told).toEqual([`{"${change(1)}","${change(2)}","${change(3)}"}`]);
    expect(commit(grown(1))).toEqual([]);
    vi.advanceTimersByTime(2 * TOLD_TOGETHER_MS);
    expect(commit(grown(4))).toEqual([change(4)]);
    vi.advanceTimersByTime(2 * TOLD_TOGETHER_MS);
    expect([due, told.length]).toEqual([2, 2]);
  });

  it("goes with the commit whenever the row of a run changes: nobody may be left to tell of an end", () => {
    commit(grown(1));
    const ended = grown(1, { run: runRow(1, { managed: true, wanted: true }) });
    expect(commit(ended, grown(2))).toEqual([change(1), change(1, "wanted")]);
    vi.advanceTimersByTime(TOLD_TOGETHER_MS);
    expect(told).toEqual([`{"${change(2)}"}`]);
  });

  it("is never told before its commit is in, however long that takes", () => {
    commit(grown(1));
    const slow = [grown(1)];
    const within = announcements.within(slow);
    vi.advanceTimersByTime(10 * TOLD_TOGETHER_MS);
    expect([within, told]).toEqual([[], []]);
    announcements.committed(slow, within);
    vi.advanceTimersByTime(TOLD_TOGETHER_MS);
    expect(told).toEqual([`{"${change(1)}"}`]);
  });

  it("is told again where that failed", async () => {
    commit(grown(1));
    commit(grown(1));
    const broken: Session = { ...session, rows: () => Promise.reject(new Error("away")) };
    await expect(announcements.tellRest(broken)).rejects.toThrow("away");
    await announcements.tellRest(session);
    expect(told).toEqual([`{"${change(1)}"}`]);
  });

  it("that came in while the last ones were on their way is told after them", () => {
    commit(grown(1));
    commit(grown(1));
    vi.advanceTimersByTime(TOLD_TOGETHER_MS);
    commit(grown(1));
    vi.advanceTimersByTime(TOLD_TOGETHER_MS);
    expect(told).toEqual([`{"${change(1)}"}`, `{"${change(1)}"}`]);
  });
});
