import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { Loop } from "./loop.js";

const REST_MS = 1_000;

/** A loop whose turns end when the test says so. */
function begin({ rests = REST_MS as number | null } = {}) {
  const clock = new ManualClock();
  const said: string[] = [];
  const ends: (() => void)[] = [];
  const wakers = new Set<() => void>();
  let turns = 0;
  let restMs = rests;
  const loop = new Loop(clock, {
    turn: () => {
      turns += 1;
      const turn = turns;
      said.push(`${turn} begins`);
      return new Promise<void>((resolve) => {
        ends.push(() => {
          said.push(`${turn} ends`);
          resolve();
        });
      });
    },
    restMs: () => restMs,
    wokenBy: (wake) => {
      wakers.add(wake);
      return () => wakers.delete(wake);
    },
  });
  const passed = async (): Promise<void> => {
    for (let n = 0; n < 10; n += 1) await Promise.resolve();
  };
  return {
    ...{ loop, clock, said, wakers },
    end: async () => {
      ends.shift()!();
      await passed();
    },
    restFor: (ms: number | null) => {
      restMs = ms;
    },
  };
}

describe("a loop", () => {
  it("takes one turn at a time, and one more for all who wake it meanwhile", async () => {
    const { loop, said, end } = begin();
    loop.wake();
    loop.wake();
    loop.wake();
    expect(said).toEqual(["1 begins"]);
    await end();
    expect(said).toEqual(["1 begins", "1 ends", "2 begins"]);
    await end();
    expect(said).toEqual(["1 begins", "1 ends", "2 begins", "2 ends"]);
  });

  it("rests after a turn, and takes the next one when the rest is over or somebody wakes it", async () => {
    const { loop, clock, said, end } = begin();
    loop.wake();
    clock.advance(10 * REST_MS);
    expect(said).toHaveLength(1);
    await end();
    clock.advance(REST_MS - 1);
    expect(said).toHaveLength(2);
    clock.advance(1);
    expect(said.at(-1)).toBe("2 begins");
    await end();
    loop.wake();
    expect(said.at(-1)).toBe("3 begins");
    await end();
    clock.advance(REST_MS - 1);
    expect(said.at(-1)).toBe("3 ends");
  });

  it("may begin with a rest, and begins it again where its length has changed", async () => {
    const { loop, clock, said, restFor } = begin();
    loop.rest();
    restFor(REST_MS / 2);
    loop.rest();
    clock.advance(REST_MS / 2);
    expect(said).toEqual(["1 begins"]);
    const idle = begin({ rests: null });
    idle.loop.rest();
    idle.clock.advance(1e9);
    expect(idle.said).toEqual([]);
    idle.loop.wake();
    expect(idle.said).toEqual(["1 begins"]);
  });

  it("begins a rest that is asked for within a turn when the turn is over", async () => {
    const { loop, clock, said, end } = begin();
    loop.wake();
    loop.rest();
    clock.advance(10 * REST_MS);
    expect(said).toEqual(["1 begins"]);
    await end();
    expect(said).toEqual(["1 begins", "1 ends"]);
    clock.advance(REST_MS);
    expect(said.at(-1)).toBe("2 begins");
  });

  it("takes one more turn where its rest ends while somebody else's turn is under way", async () => {
    const { loop, clock, said, end } = begin();
    loop.rest();
    loop.wake();
    clock.advance(REST_MS);
    await end();
    expect(said).toEqual(["1 begins", "1 ends", "2 begins"]);
  });

  it("ends with the turn that is under way, and takes no other", async () => {
    const { loop, clock, said, end } = begin();
    loop.wake();
    loop.wake();
    let isOver = false;
    void loop.stop().then(() => {
      isOver = true;
    });
    await Promise.resolve();
    expect([loop.isStopped, isOver]).toEqual([true, false]);
    await end();
    expect(isOver).toBe(true);
    loop.wake();
    loop.rest();
    clock.advance(10 * REST_MS);
    expect(said).toEqual(["1 begins", "1 ends"]);
  });

  it("is idle when the turns that were asked for are over", async () => {
    const { loop, said, end } = begin();
    await loop.idle();
    loop.wake();
    loop.wake();
    const seen: string[] = [];
    void loop.idle().then(() => seen.push(...said));
    await end();
    expect(seen).toEqual([]);
    await end();
    expect(seen).toEqual(["1 begins", "1 ends", "2 begins", "2 ends"]);
  });

  it("listens from the first turn or rest on, and until it is stopped", async () => {
    const { loop, said, wakers, end } = begin();
    expect(wakers.size).toBe(0);
    loop.rest();
    loop.wake();
    expect(wakers.size).toBe(1);
    await end();
    for (const wake of wakers) wake();
    expect(said.at(-1)).toBe("2 begins");
    await Promise.all([loop.stop(), end()]);
    expect(wakers.size).toBe(0);
  });

  it.each(["at once", "later"])("goes on after a turn that fails %s", async (when) => {
    const clock = new ManualClock();
    let turns = 0;
    const fail = (): Promise<void> => {
      turns += 1;
      if (when === "at once") throw new Error("no");
      return Promise.reject(new Error("no"));
    };
    const loop = new Loop(clock, { turn: fail, restMs: () => REST_MS });
    loop.wake();
    await loop.idle();
    clock.advance(REST_MS);
    await loop.idle();
    expect(turns).toBe(2);
  });

  it("takes a turn after one that wakes it itself, and not within it", async () => {
    const clock = new ManualClock();
    const said: string[] = [];
    const loop: Loop = new Loop(clock, {
      turn: async () => {
        said.push("begins");
        if (said.length < 3) loop.wake();
        said.push("ends");
      },
      restMs: () => null,
    });
    loop.wake();
    await loop.idle();
    expect(said).toEqual(["begins", "ends", "begins", "ends"]);
  });
});
