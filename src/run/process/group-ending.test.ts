import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GroupEnding, LEFTOVER_DRAIN_MS, LEFTOVER_GRACE_MS } from "./group-ending.js";

describe("ending a group", () => {
  let done: string[];
  let ending: GroupEnding;

  beforeEach(() => {
    vi.useFakeTimers();
    done = [];
    ending = new GroupEnding({ signal: (name) => done.push(name), abandon: () => done.push("abandon") });
  });
  afterEach(() => vi.useRealTimers());

  it("sends SIGTERM at once and SIGKILL after the grace, not before", () => {
    ending.terminate(3_000);
    vi.advanceTimersByTime(2_999);
    expect(done).toEqual(["SIGTERM"]);
    vi.advanceTimersByTime(1);
    expect(done).toEqual(["SIGTERM", "SIGKILL"]);
  });

  it("lets a second call shorten the grace, never lengthen it", () => {
    ending.terminate(3_000);
    ending.terminate(60_000);
    vi.advanceTimersByTime(1_000);
    ending.terminate(500);
    vi.advanceTimersByTime(500);
    expect(done).toEqual(["SIGTERM", "SIGTERM", "SIGKILL"]);
  });

  it("gives up on a group that SIGKILL does not end", () => {
    ending.terminate(0);
    vi.advanceTimersByTime(60_000);
    expect(done).toEqual(["SIGKILL", "abandon"]);
  });

  it("waits a moment for what the main process left behind, then ends it", () => {
    ending.leftBehind();
    vi.advanceTimersByTime(LEFTOVER_DRAIN_MS - 1);
    expect(done).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(done).toEqual(["SIGTERM"]);
    vi.advanceTimersByTime(LEFTOVER_GRACE_MS);
    expect(done).toEqual(["SIGTERM", "SIGKILL"]);
  });

  it("keeps the grace that was asked for when the main process goes first", () => {
    ending.terminate(3_000);
    ending.leftBehind();
    vi.advanceTimersByTime(2_999);
    expect(done).toEqual(["SIGTERM"]);
  });

  it("sends nothing to a group that is over", () => {
    ending.terminate(3_000);
    ending.ended();
    ending.terminate(0);
    vi.advanceTimersByTime(60_000);
    expect(done).toEqual(["SIGTERM"]);
  });
});
