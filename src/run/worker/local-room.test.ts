import { describe, expect, it } from "vitest";
import { NEEDS } from "../../../test/support/pool-bench.js";
import type { Seat } from "../worker.js";
import { LocalRoom } from "./room.js";

const room = (slots: number, memoryBytes = 1_000, gpus: readonly string[] = []): LocalRoom =>
  new LocalRoom("here", slots, { extent: () => ({ memoryBytes, gpus }) });
const gpusOf = (place: Seat | "full" | null): unknown =>
  place === "full" || place === null ? place : (place.gpus ?? []);

describe("the room of a worker", () => {
  it("is full when no slot is free, and lacks room for one that asks for more than is free", () => {
    const here = room(3);
    const held = here.place({ ...NEEDS, slots: 2 }) as Seat;
    expect(here.place({ ...NEEDS, slots: 2 })).toBeNull();
    here.place(NEEDS);
    expect(here.place(NEEDS)).toBe("full");
    here.release(held);
    here.release(held);
    expect(here.used).toBe(1);
  });

  it("has as much memory as the machine, counted, and one that asks for more gets in alone", () => {
    const here = room(8, 1_000);
    const half = here.place({ ...NEEDS, memoryBytes: 600 }) as Seat;
    expect(here.place({ ...NEEDS, memoryBytes: 600 })).toBeNull();
    expect(here.place({ ...NEEDS, memoryBytes: 5_000 })).toBeNull();
    expect(here.place({ ...NEEDS, memoryBytes: 400 })).toMatchObject({ worker: "here" });
    expect(here.place(NEEDS)).toMatchObject({ worker: "here" });
    here.release(half);
    const alone = room(8, 1_000);
    expect(alone.place({ ...NEEDS, memoryBytes: 5_000 })).toMatchObject({ worker: "here" });
    expect(alone.place({ ...NEEDS, memoryBytes: 1 })).toBeNull();
  });

  it("gives each graphics processor to one at a time, by its name", () => {
    const here = room(8, 1_000, ["0", "2", "GPU-7"]);
    const first = here.place({ ...NEEDS, gpus: 2 });
    expect(gpusOf(first)).toEqual(["0", "2"]);
    expect(gpusOf(here.place({ ...NEEDS, gpus: 2 }))).toBeNull();
    expect(gpusOf(here.place({ ...NEEDS, gpus: 1 }))).toEqual(["GPU-7"]);
    here.release(first as Seat);
    expect(gpusOf(here.place({ ...NEEDS, gpus: 1 }))).toEqual(["0"]);
    expect(gpusOf(here.place(NEEDS))).toEqual([]);
  });

  it("asks what the machine has only when somebody wants it", () => {
    let asked = 0;
    const here = new LocalRoom("here", 4, {
      extent: () => {
        asked += 1;
        return { memoryBytes: 10, gpus: [] };
      },
    });
    here.place(NEEDS);
    expect(asked).toBe(0);
    here.place({ ...NEEDS, memoryBytes: 1 });
    here.place({ ...NEEDS, memoryBytes: 1 });
    expect(asked).toBe(1);
  });
});
