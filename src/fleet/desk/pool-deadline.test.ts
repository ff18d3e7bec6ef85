import { describe, expect, it } from "vitest";
import { NEEDS, PoolBench, registration } from "../../../test/support/pool-bench.js";

const bench = new PoolBench();
const takes = (runtimeMs: number | null) => bench.pool.place({ ...NEEDS, runtimeMs });
const AT = { node: "node1", allocation: "slurm/7", restart: 2 };

describe("a worker that leaves at a known time", () => {
  it("gets nothing whose runtime would go beyond it", () => {
    bench.register({ ends_in_ms: 280_000 });
    bench.clock.advance(80_000);
    bench.desk.heartbeat("aaaaaaaa-0000", { attempts: [], draining: false });
    expect(takes(200_001)).toBeNull();
    expect(bench.pool.whyNot({ ...NEEDS, runtimeMs: 200_001 }).text).toBe(
      "the workers that could run it leave before its runtime (200001 ms) is over",
    );
    expect(takes(200_000)).toMatchObject({ worker: "w1/aaaaaaaa" });
  });

  it("gets what says no runtime while a minute is left", () => {
    bench.register({ ends_in_ms: 60_000 });
    expect(takes(null)).toMatchObject({ worker: "w1/aaaaaaaa" });
    bench.clock.advance(1);
    expect(takes(null)).toBeNull();
  });

  it("says its time anew when it registers again", () => {
    bench.register({ ends_in_ms: 1_000 });
    expect(takes(5_000)).toBeNull();
    bench.register({ ends_in_ms: 5_000 });
    expect(takes(5_000)).toMatchObject({ worker: "w1/aaaaaaaa" });
    bench.register({ ends_in_ms: null });
    expect(takes(10 ** 9)).toMatchObject({ worker: "w1/aaaaaaaa" });
  });

  it("is passed over for one that stays", () => {
    bench.register({ ends_in_ms: 1_000 });
    bench.register({ name: "w2", instance: "bbbbbbbb-0000", slots: 1 });
    expect(takes(5_000)).toMatchObject({ worker: "w2/bbbbbbbb" });
  });

  it("is listed with when it leaves", () => {
    bench.register({ ends_in_ms: 90_000, ...AT });
    bench.clock.advance(30_000);
    expect(bench.pool.list()).toMatchObject([{ ...AT, leaves_at: bench.clock.now() + 60_000 }]);
  });
});

describe("the place of an attempt", () => {
  it("is what its worker said of itself when it registered", () => {
    bench.register(AT);
    expect(takes(null)).toMatchObject({ worker: "w1/aaaaaaaa", at: AT });
  });

  it("is unknown where the worker said nothing", () => {
    bench.register(registration());
    expect(takes(null)).toMatchObject({ at: { node: null, allocation: null, restart: null } });
  });
});
