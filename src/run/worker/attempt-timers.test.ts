import { describe, expect, it } from "vitest";
import { flush } from "../../../test/support/harness.js";
import { ManualClock } from "../../../test/support/manual-clock.js";
import type { StopCause } from "../action/action.js";
import { AttemptTimers } from "./attempt-timers.js";

function start(limits: { timeoutMs: number | null; idleTimeoutMs: number | null }) {
  const clock = new ManualClock();
  const stops: StopCause[] = [];
  return { clock, stops, timers: new AttemptTimers(clock, limits, (cause) => stops.push(cause)) };
}

describe("the timers of an attempt", () => {
  it("end an attempt that prints nothing for the idle time", { tags: ["M6"] }, () => {
    const { clock, stops } = start({ timeoutMs: null, idleTimeoutMs: 100 });
    clock.advance(99);
    expect(stops).toEqual([]);
    clock.advance(1);
    expect(stops).toEqual(["idle_timeout"]);
  });

  it("leave one alone that prints now and then, however long it takes, until it falls silent", {
    tags: ["M20"],
  }, () => {
    const { clock, stops, timers } = start({ timeoutMs: null, idleTimeoutMs: 100 });
    for (let chunk = 0; chunk < 50; chunk++) {
      clock.advance(90);
      timers.signOfLife();
    }
    expect(stops).toEqual([]);
    clock.advance(100);
    expect(stops).toEqual(["idle_timeout"]);
  });

  it("end one that prints all the time at its wall-clock timeout", { tags: ["M5"] }, () => {
    const { clock, stops, timers } = start({ timeoutMs: 1_000, idleTimeoutMs: 100 });
    for (let chunk = 0; chunk < 20; chunk++) {
      clock.advance(50);
      timers.signOfLife();
    }
    expect(stops).toEqual(["timeout"]);
  });

  it("end nothing once they are cleared", () => {
    const { clock, stops, timers } = start({ timeoutMs: 1_000, idleTimeoutMs: 100 });
    clock.advance(50);
    timers.clear();
    clock.advance(10_000);
    expect(stops).toEqual([]);
  });

  it("ask what else shows progress before they end anything, and go on while there is some", async () => {
    const clock = new ManualClock();
    const stops: StopCause[] = [];
    let changes = 0;
    const hasProgress = async (): Promise<boolean> => {
      changes -= 1;
      return changes >= 0;
    };
    new AttemptTimers(
      clock,
      { timeoutMs: null, idleTimeoutMs: 100 },
      (cause) => stops.push(cause),
      hasProgress,
    );
    changes = 8;
    const pass = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 25) {
        clock.advance(25);
        await flush();
      }
    };
    await pass(200);
    expect(stops).toEqual([]);
    await pass(75);
    expect(stops).toEqual([]);
    await pass(25);
    expect(stops).toEqual(["idle_timeout"]);
  });
});
