import { describe, expect, test } from "vitest";
import {
  causeOfTick,
  firesAt,
  judgeTicks,
  newScheduleState,
  replaceSchedule,
  type ScheduleState,
  setPaused,
  settleByHand,
  settleTicks,
} from "./plan-ticks.js";
import type { ScheduleDefinition } from "./triggers.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const T0 = Date.parse("2026-01-01T00:00:00Z");
const HOURLY: ScheduleDefinition = {
  ...{ id: "hourly", cron: "0 * * * *", timezone: "UTC" },
  ...{ overlap: "skip", catchUp: "last", jitterMs: 0, inputs: {} },
};

function begun(changes: Partial<ScheduleDefinition> = {}): ScheduleState {
  return newScheduleState({ ...HOURLY, ...changes }, T0);
}

function judge(state: ScheduleState, now: number, isBusy = false): ScheduleState {
  return judgeTicks(state, { workflow: "w", now, isBusy });
}

/** After midnight of the first day, in hours. */
const hours = (ticks: readonly number[]): number[] => ticks.map((tick) => (tick - T0) / HOUR);

const shown = ({ judged_to, firing, skipped, missed }: ScheduleState) => ({
  judged: (judged_to - T0) / HOUR,
  firing: hours(firing),
  skipped: skipped.count,
  missed: missed.count,
});

describe("what becomes of ticks", () => {
  test("one fires when its time has come, once", { tags: ["K3"] }, () => {
    const state = begun();
    expect(judge(state, T0 + HOUR - 1)).toBe(state);
    const fires = judge(state, T0 + HOUR);
    expect(shown(fires)).toEqual({ judged: 1, firing: [1], skipped: 0, missed: 0 });
    const settled = settleTicks(fires, [{ tick: T0 + HOUR, outcome: { run_id: 7 } }], T0 + HOUR);
    expect(settled).toMatchObject({ firing: [], last: { tick: T0 + HOUR, run_id: 7 } });
    expect(judge(settled, T0 + HOUR + MINUTE)).toBe(settled);
  });

  test("up to a minute late it fires; later it was missed", { tags: ["K3"] }, () => {
    expect(shown(judge(begun({ catchUp: "none" }), T0 + HOUR + MINUTE))).toMatchObject({ firing: [1] });
    const late = judge(begun({ catchUp: "none" }), T0 + HOUR + MINUTE + 1);
    expect(shown(late)).toEqual({ judged: 1, firing: [], skipped: 0, missed: 1 });
    expect(late.missed.last).toBe(T0 + HOUR);
  });

  test("catch_up: none, the last, or all", { tags: ["K3"] }, () => {
    const now = T0 + 5.5 * HOUR;
    expect(shown(judge(begun({ catchUp: "none" }), now))).toMatchObject({ firing: [], missed: 5 });
    expect(shown(judge(begun(), now))).toMatchObject({ firing: [5], missed: 4 });
    expect(shown(judge(begun({ catchUp: "all", overlap: "allow" }), now))).toEqual({
      ...{ judged: 5, firing: [1, 2, 3, 4, 5], skipped: 0, missed: 0 },
    });
  });

  test("catch_up: all makes up for the newest 100", { tags: ["K3"] }, () => {
    const state = judge(begun({ catchUp: "all", overlap: "allow" }), T0 + 250.5 * HOUR);
    expect(state.firing).toHaveLength(100);
    expect(hours(state.firing)).toEqual(Array.from({ length: 100 }, (_, n) => 151 + n));
    expect(state.missed.count).toBe(150);
  });

  test("a year of seconds costs no more than a thousand ticks", { tags: ["K3"] }, () => {
    const state = judge(begun({ cron: "* * * * * *", overlap: "allow" }), T0 + 365 * 24 * HOUR);
    expect(state.firing).toHaveLength(62);
    expect(state.missed.count).toBe(1_000 - 62);
  });

  test("overlap: skip starts nothing while a run of it is not over, allow does", { tags: ["K3"] }, () => {
    expect(shown(judge(begun(), T0 + HOUR, true))).toEqual({ judged: 1, firing: [], skipped: 1, missed: 0 });
    expect(shown(judge(begun({ overlap: "allow" }), T0 + HOUR, true))).toMatchObject({ firing: [1] });
    const seconds = judge(begun({ cron: "* * * * * *" }), T0 + 3 * SECOND);
    expect(seconds.firing).toEqual([T0 + 3 * SECOND]);
    expect(seconds.skipped).toEqual({ count: 2, last: T0 + 2 * SECOND });
  });

  test("one whose server died before its run was made is judged again: on time it fires, later it was missed", {
    tags: ["K3"],
  }, () => {
    const fires = judge(begun({ catchUp: "none" }), T0 + HOUR);
    expect(shown(judge(fires, T0 + HOUR + MINUTE))).toMatchObject({ firing: [1], missed: 0 });
    expect(shown(judge(fires, T0 + HOUR + 2 * MINUTE))).toMatchObject({ firing: [], missed: 1 });
    const caughtUp = judge(judge(begun(), T0 + HOUR), T0 + 3.5 * HOUR);
    expect(shown(caughtUp)).toEqual({ judged: 3, firing: [3], skipped: 0, missed: 2 });
  });

  test("a clock that is set back a little waits; one that is set back far begins there", {
    tags: ["K3"],
  }, () => {
    const fired = settleTicks(judge(begun(), T0 + HOUR), [{ tick: T0 + HOUR, outcome: { run_id: 1 } }], 0);
    expect(judge(fired, T0 + HOUR - MINUTE)).toBe(fired);
    const back = judge(fired, T0 - 10 * HOUR);
    expect(shown(back)).toMatchObject({ judged: -10, firing: [] });
    expect(shown(judge(back, T0 - 9 * HOUR))).toMatchObject({ judged: -9, firing: [-9] });
  });

  test("a clock that jumps forward misses what lies between", { tags: ["K3"] }, () => {
    expect(shown(judge(begun(), T0 + 48 * HOUR))).toEqual({
      judged: 48,
      firing: [48],
      skipped: 1,
      missed: 46,
    });
  });

  test("what comes while it is paused never fires", { tags: ["K3"] }, () => {
    const paused = setPaused(begun(), { by: "ann", at: T0, reason: "" }, T0);
    expect(judge(paused, T0 + 5 * HOUR)).toBe(paused);
    const resumed = setPaused(paused, null, T0 + 5.5 * HOUR);
    expect(shown(judge(resumed, T0 + 6 * HOUR))).toEqual({ judged: 6, firing: [6], skipped: 0, missed: 0 });
  });

  test("published anew it keeps its pause and counts; other times begin now", { tags: ["K3"] }, () => {
    const before = setPaused(
      judge(begun({ catchUp: "none" }), T0 + 2.5 * HOUR),
      { by: "ann", at: T0, reason: "" },
      T0,
    );
    const now = T0 + 10 * HOUR;
    const same = replaceSchedule(before, { ...HOURLY, inputs: { a: 1 } }, now);
    expect(same).toMatchObject({ paused: { by: "ann" }, missed: { count: 2 }, judged_to: before.judged_to });
    const other = replaceSchedule(before, { ...HOURLY, cron: "30 * * * *" }, now);
    expect(other).toMatchObject({ paused: { by: "ann" }, missed: { count: 2 }, judged_to: now });
  });
});

describe("a run that was refused", () => {
  const no = { code: "GROUP_BUSY", message: "no" };
  const refused = settleTicks(begun(), [{ tick: T0 + 2 * HOUR, outcome: no }], T0 + 2 * HOUR);

  test("is on record until a later one could be created", { tags: ["K3"] }, () => {
    expect(refused.refused).toEqual({ tick: T0 + 2 * HOUR, ...no, at: T0 + 2 * HOUR });
    const older = settleTicks(refused, [{ tick: T0 + HOUR, outcome: { run_id: 3 } }], T0 + 3 * HOUR);
    expect(older.refused).toEqual(refused.refused);
    const later = settleTicks(refused, [{ tick: T0 + 3 * HOUR, outcome: { run_id: 4 } }], T0 + 3 * HOUR);
    expect(later).toMatchObject({ refused: null, last: { tick: T0 + 3 * HOUR, run_id: 4 } });
  });

  test("is over with a run by hand, which is the last one, and which drops no tick", { tags: ["K3"] }, () => {
    const firing = { ...refused, firing: [T0 + 3 * HOUR] };
    const byHand = settleByHand(firing, 9, T0 + 3 * HOUR);
    expect(byHand).toEqual({ ...firing, refused: null, last: { tick: T0 + 3 * HOUR, run_id: 9 } });
    expect(settleByHand(byHand, 9, T0 + 4 * HOUR)).toBe(byHand);
  });
});

describe("jitter", () => {
  const jittered = { ...HOURLY, jitterMs: 10 * MINUTE };

  test("delays each tick by its own time, always the same, and never up to the next tick", {
    tags: ["K3"],
  }, () => {
    const delays = Array.from(
      { length: 200 },
      (_, n) => firesAt(jittered, "w", T0 + n * HOUR) - (T0 + n * HOUR),
    );
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThan(10 * MINUTE);
    expect(new Set(delays).size).toBeGreaterThan(190);
    expect(firesAt(jittered, "w", T0)).toBe(firesAt(jittered, "w", T0));
    expect(firesAt(jittered, "other", T0)).not.toBe(firesAt(jittered, "w", T0));
    const crowded = { ...HOURLY, cron: "* * * * *", jitterMs: HOUR };
    for (let n = 0; n < 100; n += 1)
      expect(firesAt(crowded, "w", T0 + n * MINUTE) - (T0 + n * MINUTE)).toBeLessThan(MINUTE);
  });

  test("a tick that is put off is neither late nor lost", { tags: ["K3"] }, () => {
    const state = begun({ jitterMs: 30 * MINUTE, catchUp: "none" });
    const fireTime = firesAt(state.schedule, "w", T0 + HOUR);
    expect(fireTime).toBeGreaterThan(T0 + HOUR);
    expect(judge(state, fireTime - 1)).toBe(state);
    expect(shown(judge(state, fireTime))).toMatchObject({ judged: 1, firing: [1] });
    expect(shown(judge(state, fireTime + MINUTE + 1))).toMatchObject({ firing: [], missed: 1 });
  });
});

test("the cause of a run names workflow, schedule and tick", { tags: ["K3"] }, () => {
  expect(causeOfTick("release", "nightly", T0 + HOUR)).toBe("schedule/release/nightly/2026-01-01T01:00:00Z");
  expect(causeOfTick("a/b", "c", T0)).toBe("schedule/a%2Fb/c/2026-01-01T00:00:00Z");
  expect(causeOfTick("a%2Fb", "c", T0)).not.toBe(causeOfTick("a/b", "c", T0));
});
