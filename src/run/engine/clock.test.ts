import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "./clock.js";

const NOW = 1_700_000_000_000;
let wallTime = NOW;
let steadyTime = 0;

beforeEach(() => {
  wallTime = NOW;
  steadyTime = 0;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.spyOn(Date, "now").mockImplementation(() => wallTime);
  vi.spyOn(performance, "now").mockImplementation(() => steadyTime);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The timers of the runtime and the wall clock need not agree. */
function pass(timerMs: number, wallMs: number): void {
  wallTime += wallMs;
  steadyTime += wallMs;
  vi.advanceTimersByTime(timerMs);
}

describe("the system clock", () => {
  it("never calls before the time has come, even if the runtime's timer fires early", () => {
    const call = vi.fn();
    systemClock.setTimer(NOW + 10, call);
    pass(10, 9);
    expect(call).not.toHaveBeenCalled();
    pass(1, 1);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("waits longer than one timer can", () => {
    const call = vi.fn();
    const days30 = 30 * 24 * 3_600_000;
    systemClock.setTimer(NOW + days30, call);
    pass(2 ** 31 - 1, 2 ** 31 - 1);
    expect(call).not.toHaveBeenCalled();
    pass(days30, days30);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("calls when the time has passed, though the clock on the wall was set back meanwhile", () => {
    const call = vi.fn();
    systemClock.setTimer(NOW + 4_000, call);
    wallTime -= 3 * 3_600_000;
    pass(3_999, 3_999);
    expect(call).not.toHaveBeenCalled();
    pass(1, 1);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("calls within a minute when the clock on the wall has passed the time, as after a sleep", () => {
    const call = vi.fn();
    systemClock.setTimer(NOW + 8 * 3_600_000, call);
    wallTime += 9 * 3_600_000;
    pass(60_000, 0);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("takes a timer back, also after it was set anew", () => {
    const call = vi.fn();
    const cancel = systemClock.setTimer(NOW + 10, call);
    pass(10, 9);
    cancel();
    pass(100, 100);
    expect(call).not.toHaveBeenCalled();
  });
});

describe("the clock that nobody sets", () => {
  it("waits longer than one timer can", () => {
    const call = vi.fn();
    const days30 = 30 * 24 * 3_600_000;
    systemClock.after(days30, call);
    steadyTime += 2 ** 31 - 1;
    vi.advanceTimersByTime(2 ** 31 - 1);
    expect(call).not.toHaveBeenCalled();
    vi.advanceTimersByTime(days30);
    expect(call).toHaveBeenCalledTimes(1);
  });
});
