import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { assignment } from "../../../test/support/pool-bench.js";
import { AttemptTimers } from "./attempt-timers.js";
import { ResourceLimits } from "./resource-limits.js";

const HOUR_MS = 3_600_000;

describe("the timeouts of an attempt", () => {
  it("fire when their time has passed, though the clock on the wall was set back", () => {
    const clock = new ManualClock();
    const causes: string[] = [];
    const limits = { timeoutMs: 5_000, idleTimeoutMs: 1_000 };
    const timers = new AttemptTimers(clock, limits, (cause) => causes.push(cause));
    clock.advance(600);
    clock.set(-HOUR_MS);
    timers.signOfLife();
    clock.advance(999);
    expect(causes).toEqual([]);
    clock.advance(1);
    expect(causes).toEqual(["idle_timeout"]);
    clock.advance(3_400);
    expect(causes).toEqual(["idle_timeout", "timeout"]);
  });

  it("do not fire because the clock on the wall was set forward", () => {
    const clock = new ManualClock();
    const causes: string[] = [];
    new AttemptTimers(clock, { timeoutMs: 5_000, idleTimeoutMs: 1_000 }, (cause) => causes.push(cause));
    clock.set(HOUR_MS);
    clock.advance(999);
    expect(causes).toEqual([]);
  });

  it("are forgotten once the attempt has ended, also after a sign of life", () => {
    const clock = new ManualClock();
    const causes: string[] = [];
    const limits = { timeoutMs: 5_000, idleTimeoutMs: 1_000 };
    const timers = new AttemptTimers(clock, limits, (cause) => causes.push(cause));
    clock.advance(600);
    timers.signOfLife();
    clock.advance(600);
    timers.clear();
    clock.advance(HOUR_MS);
    expect(causes).toEqual([]);
  });
});

describe("the run time that a step asked for", () => {
  it("is measured by a clock that nobody sets", () => {
    const clock = new ManualClock();
    let stops = 0;
    const resources = { cpus: null, memoryBytes: null, runtimeMs: 2_000 } as never;
    const stop = (): void => {
      stops += 1;
    };
    const limits = new ResourceLimits(clock, assignment({ resources }), stop, { count: () => null });
    clock.set(-HOUR_MS);
    clock.advance(1_999);
    expect(stops).toBe(0);
    clock.advance(1);
    expect(stops).toBe(1);
    expect(limits.judge({ kind: "succeeded", output: null })).toMatchObject({ code: "WALLTIME" });
  });
});
