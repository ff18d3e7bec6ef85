import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { type Stay, WorkerLife } from "./worker-life.js";

function begin(stay: Stay) {
  const clock = new ManualClock();
  const told = new AbortController();
  const lines: string[] = [];
  const life = new WorkerLife({ clock, drain: told.signal, log: (line) => lines.push(line) }, stay);
  return { clock, told, lines, life };
}

describe("a worker's stay", () => {
  it("lasts until it is told to stop where nothing bounds it", () => {
    const { clock, told, life } = begin({});
    clock.advance(10 ** 9);
    expect([life.over.aborted, life.leftMs()]).toEqual([false, null]);
    told.abort();
    expect(life.over.aborted).toBe(true);
  });

  it("ends so long before its lifetime is over", () => {
    const { clock, life, lines } = begin({ lifetimeMs: 600_000, drainBeforeMs: 60_000 });
    expect(life.leftMs()).toBe(540_000);
    clock.advance(539_999);
    expect([life.over.aborted, life.leftMs()]).toEqual([false, 1]);
    clock.advance(1);
    expect([life.over.aborted, life.leftMs()]).toEqual([true, 0]);
    expect(lines).toEqual(["leaves: its time is over"]);
  });

  it("is over at once where the lifetime is shorter than that", () => {
    const { clock, life } = begin({ lifetimeMs: 1_000, drainBeforeMs: 5_000 });
    clock.advance(0);
    expect(life.over.aborted).toBe(true);
  });

  it("ends when it has been idle for long enough, counted anew after each time of work", () => {
    const { clock, life, lines } = begin({ idleExitMs: 1_000 });
    clock.advance(999);
    life.busy();
    clock.advance(5_000);
    expect(life.over.aborted).toBe(false);
    life.idle();
    clock.advance(999);
    expect(life.over.aborted).toBe(false);
    clock.advance(1);
    expect(life.over.aborted).toBe(true);
    expect(lines).toEqual(["leaves: it was idle for 1 s"]);
  });

  it("leaves no timer behind", () => {
    const { clock, life } = begin({ lifetimeMs: 10, idleExitMs: 10 });
    life.clear();
    expect(clock.fireNext()).toBe(false);
  });
});
