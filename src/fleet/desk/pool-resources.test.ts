import { describe, expect, it } from "vitest";
import { JOB, NEEDS, PoolBench } from "../../../test/support/pool-bench.js";
import type { Needs } from "../../run/worker.js";

const bench = new PoolBench();
const place = (changes: Partial<Needs>) => bench.pool.place({ ...NEEDS, ...changes });
const why = (changes: Partial<Needs>) => bench.pool.whyNot({ ...NEEDS, ...changes }).text;
const another = (changes: object = {}): string =>
  bench.register({ name: "w2", instance: "bbbbbbbb-0000", ...changes });
const W1 = { worker: "w1/aaaaaaaa" };
const W2 = { worker: "w2/bbbbbbbb" };

describe("a step that asks for graphics processors", () => {
  it("goes to a worker that has them, as many at a time as there are", () => {
    bench.register();
    expect(place({ gpus: 1 })).toBeNull();
    expect(why({ gpus: 1 })).toBe("no connected worker has 1 slot and 1 GPU");
    another({ gpus: 2, slots: 8 });
    expect(place({ gpus: 1 })).toMatchObject(W2);
    expect(place({ gpus: 2 })).toBeNull();
    expect(place({ gpus: 1 })).toMatchObject(W2);
    expect(place({ gpus: 1 })).toBeNull();
    expect(why({ gpus: 1 })).toBe("the workers that can run it are busy");
  });

  it("does not go to the server's own worker, which has none", () => {
    bench.open(4);
    expect(place({ gpus: 1 })).toBeNull();
    expect(place({})).toMatchObject({ worker: "local-1" });
  });
});

describe("a step that asks for several machines", () => {
  it("waits for an allocation of as many, and says so", () => {
    bench.open(4);
    bench.register();
    expect(place({ nodes: 3 })).toBeNull();
    expect(why({ nodes: 3 })).toBe(
      "it needs 3 machines at once, which only an allocation of a cluster that is made for it has",
    );
    another({ nodes: 2 });
    expect(place({ nodes: 3 })).toBeNull();
    bench.register({ name: "w3", instance: "cccccccc-0000", nodes: 3 });
    expect(place({ nodes: 3 })).toMatchObject({ worker: "w3/cccccccc" });
  });

  it("has its allocation to itself: others do not go there", () => {
    bench.register({ nodes: 2 });
    expect(place({})).toBeNull();
    expect(why({})).toBe("no connected worker can run actions of type command");
  });
});

describe("a step that asks for more memory than the server's own worker has", () => {
  it("goes to a worker that has it", () => {
    bench.open(4, { memoryBytes: 500, gpus: [] });
    bench.register({ memory_bytes: 1_000 });
    expect(place({ memoryBytes: 500 })).toMatchObject({ worker: "local-1" });
    expect(place({ memoryBytes: 501 })).toMatchObject(W1);
  });

  it("runs there alone where nobody has it", () => {
    bench.open(4, { memoryBytes: 500, gpus: [] });
    bench.register({ memory_bytes: 100 });
    expect(place({ memoryBytes: 501 })).toMatchObject({ worker: "local-1" });
  });
});

describe("a wide attempt for which nobody has room", () => {
  const wide: Needs = { ...NEEDS, slots: 3, cpus: 3 };

  it("has room kept for it at the worker that has it soonest; small ones go elsewhere", () => {
    bench.register({ slots: 3 });
    expect(place({ runtimeMs: 60_000 })).toMatchObject(W1);
    another({ slots: 3, cpus: 3 });
    expect(place({ runtimeMs: 30_000 })).toMatchObject(W2);
    expect(bench.pool.place(wide)).toBeNull();
    expect(bench.pool.keepRoomFor(wide)).toBe(true);
    expect(place({ runtimeMs: 40_000 })).toMatchObject(W1);
    expect(place({})).toMatchObject(W1);
    // The first worker is full; the second has two slots, for those alone that are over in time.
    expect(place({})).toBeNull();
    expect(place({ runtimeMs: 30_001 })).toBeNull();
    expect(place({ runtimeMs: 30_000 })).toMatchObject(W2);
    expect(bench.pool.keepRoomFor(null)).toBe(false);
    expect(place({})).toMatchObject(W2);
  });

  it("is not waited for where no worker is large enough", () => {
    bench.register({ slots: 2 });
    expect(bench.pool.keepRoomFor(wide)).toBe(false);
    expect(place({})).toMatchObject(W1);
    expect(place({})).toMatchObject(W1);
  });

  it("knows the time of what runs already", () => {
    const id = bench.register({ slots: 3 });
    bench.execute({ jobId: JOB, token: "t1" }, { ...NEEDS, runtimeMs: 10_000 });
    bench.clock.advance(4_000);
    bench.desk.heartbeat(id, { attempts: [], draining: false });
    bench.pool.keepRoomFor(wide);
    expect(place({ runtimeMs: 6_001 })).toBeNull();
    expect(place({ runtimeMs: 6_000 })).toMatchObject(W1);
  });
});
