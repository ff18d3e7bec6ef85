import { describe, expect, it } from "vitest";
import { held, PoolBench } from "../../../test/support/pool-bench.js";

const bench = new PoolBench();
const PAUSED = {
  paused: true,
  takeover: true,
  recovery: { action: "resume_from_step", step_id: "plan", updated_at: "2026-02-19T08:00:00.000Z" },
} as const;

describe("a heartbeat is answered with what people want of runs", () => {
  it("of which the worker holds attempts, as it stands at that moment", async () => {
    const { id } = await bench.deliver();
    const beat = () => bench.desk.heartbeat(id, { attempts: [held()], draining: false });
    expect(beat()).toMatchObject({ renewed: ["t1"], control: {} });
    bench.controls.set(1, PAUSED);
    bench.controls.set(2, PAUSED);
    expect(beat().control).toEqual({ 1: { live_control: PAUSED } });
  });

  it("but not of runs whose attempts it does not hold, or that another server has", async () => {
    const { id } = await bench.deliver();
    bench.controls.set(1, PAUSED);
    const other = bench.register({ instance: "bbbbbbbb-0000", name: "w2" });
    expect(bench.desk.heartbeat(other, { attempts: [held()], draining: false }).control).toEqual({});
    expect(bench.desk.heartbeat(id, { attempts: [held("t9")], draining: false }).control).toEqual({});
    const idle = bench.desk.heartbeat(id, { attempts: [], draining: false });
    expect(idle.control).toEqual({});
  });
});
