import { describe, expect, it, vi } from "vitest";
import { FamilyStage } from "../support/family-stage.js";
import { trace } from "../support/trace.js";

const CHILD = `name: child
unhandled: hold
steps:
  pay: { exec: make }
  ship: { exec: make, depends_on: pay }
`;
const PARENT = `name: parent
steps:
  call: { type: workflow, file: child.yaml }
  after: { exec: make, depends_on: call }
  side: { exec: make }
`;
const FAILS_ONCE = { pay: [{ exit: 6 }, "ok" as const], side: [{ output: null, takesMs: 1_000 }] };

async function decide(stage: FamilyStage, action: "retry" | "fail"): Promise<void> {
  const { id } = (await stage.view(2)).job("pay");
  const items = [{ job: id, action, output: null, items: null }];
  await stage.operate(2, { type: "holds.resolve", items, reason: "because", key: null });
}

describe("a run whose child run is held", () => {
  it("rests when it has nothing else to do, and goes on with the child once that is decided", async () => {
    const stage = new FamilyStage(CHILD, FAILS_ONCE);
    await stage.start(PARENT);
    const before = ["start call", "start side", "ok side", "stopped call interrupted"];
    expect(trace(await stage.view())).toEqual(before);
    expect(trace(await stage.view(2)).slice(-2)).toEqual(["held pay EXIT_6", "run held"]);
    expect(await stage.statuses()).toEqual(["running", "held"]);
    expect(await stage.store.readLease(1)).toBe(null);
    await decide(stage, "retry");
    await stage.resume(1);
    const after = ["start call", "ok call", "start after", "ok after", "run completed"];
    expect(trace(await stage.view())).toEqual([...before, ...after]);
    expect(await stage.statuses()).toEqual(["completed", "completed"]);
    expect(stage.worker.order).toEqual(["call", "side", "pay", "call", "pay", "ship", "after"]);
  });

  it("rests again where it is resumed before anybody has decided, at no cost", async () => {
    const stage = new FamilyStage(CHILD, FAILS_ONCE);
    await stage.start(`max_recoveries: 1\n${PARENT}`);
    for (let round = 0; round < 3; round += 1) await stage.resume(1);
    expect(await stage.statuses()).toEqual(["running", "held"]);
    expect(trace(await stage.view()).filter((line) => line.startsWith("climb"))).toEqual([]);
    await decide(stage, "fail");
    await stage.resume(1);
    expect(await stage.statuses()).toEqual(["failed", "failed"]);
  });

  it("goes on by itself where somebody decided before its lease was given back", async () => {
    const stage = new FamilyStage(CHILD, FAILS_ONCE);
    const release = stage.store.releaseLease.bind(stage.store);
    vi.spyOn(stage.store, "releaseLease").mockImplementation(async (runId, fence) => {
      if (runId === 1 && (await stage.statuses())[1] === "held") await decide(stage, "retry");
      return release(runId, fence);
    });
    await stage.start(PARENT);
    expect(await stage.statuses()).toEqual(["completed", "completed"]);
    expect(stage.worker.order.filter((step) => step === "ship")).toEqual(["ship"]);
  });

  it("and that waits for another person's answer waits on, as it would without the child", async () => {
    const stage = new FamilyStage(CHILD, FAILS_ONCE);
    const asking = PARENT.replace("side: { exec: make }", "side: { type: human, prompt: sure? }");
    await expect(stage.start(asking)).rejects.toThrow("it hangs");
    expect(trace(await stage.view())).toEqual(["start call", "start side", "asked side"]);
  });
});
