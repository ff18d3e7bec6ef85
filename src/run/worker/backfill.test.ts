import { describe, expect, it } from "vitest";
import { beginningOf, mayGoAhead, minus, NO_ROOM, plus, type Room, type Taker } from "./room.js";

const NOW = 1_000;
const slots = (count: number, more: Partial<Room> = {}): Room => ({ ...NO_ROOM, slots: count, ...more });
const until = (count: number, endsAt: number | null): Taker => ({ ...slots(count), endsAt });
const wanting = (count: number, runtimeMs: number | null) => ({ ...slots(count), runtimeMs });

function worker(total: Room, ...takers: Taker[]) {
  const used = takers.reduce<Room>(plus, NO_ROOM);
  return { free: minus(total, used), takers, now: NOW };
}

describe("a wide attempt that waits", () => {
  it("can begin when enough of what runs is over, the soonest first", () => {
    const busy = worker(slots(8), until(2, 9_000), until(3, 5_000), until(2, 7_000));
    expect(beginningOf(slots(4), busy)).toEqual({ at: 5_000, spare: slots(0) });
    expect(beginningOf(slots(5), busy)).toEqual({ at: 7_000, spare: slots(1) });
    expect(beginningOf(slots(8), busy)).toEqual({ at: 9_000, spare: slots(0) });
    expect(beginningOf(slots(9), busy)).toBeNull();
  });

  it("can begin nobody knows when where too little of what runs says how long it takes", () => {
    const busy = worker(slots(4), until(2, null), until(1, 5_000));
    expect(beginningOf(slots(2), busy)).toEqual({ at: 5_000, spare: slots(0) });
    expect(beginningOf(slots(3), busy)).toBeNull();
  });

  it("waits for memory and graphics processors as for slots", () => {
    const total = slots(8, { memoryBytes: 100, gpus: 2 });
    const busy = worker(total, { ...slots(1, { memoryBytes: 60, gpus: 1 }), endsAt: 4_000 });
    expect(beginningOf(slots(1, { memoryBytes: 50 }), busy)?.at).toBe(4_000);
    expect(beginningOf(slots(1, { gpus: 2 }), busy)?.at).toBe(4_000);
    expect(beginningOf(slots(1, { gpus: 1, memoryBytes: 40 }), busy)?.at).toBe(NOW);
  });
});

describe("a small attempt beside a wide one that waits", () => {
  const busy = worker(slots(8), until(5, 10_000), until(2, null));

  it("goes ahead if it is over before the wide one can begin", () => {
    expect(mayGoAhead(wanting(1, 9_000), slots(6), busy)).toBe(true);
    expect(mayGoAhead(wanting(1, 9_001), slots(6), busy)).toBe(false);
    expect(mayGoAhead(wanting(1, null), slots(6), busy)).toBe(false);
  });

  it("goes ahead, however long it takes, if there is room for both then", () => {
    expect(mayGoAhead(wanting(1, null), slots(5), busy)).toBe(true);
    expect(mayGoAhead(wanting(2, null), slots(5), busy)).toBe(false);
  });

  it("does not go ahead where nobody knows when the wide one can begin", () => {
    expect(mayGoAhead(wanting(1, 1), slots(8), busy)).toBe(false);
  });
});
