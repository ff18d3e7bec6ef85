import { describe, expect, it } from "vitest";
import { type AnyFlow, type FlowOptions, flow, type Steps } from "../../src/flow/flow.js";
import type { Assignment } from "../../src/run/worker.js";
import { FlowStage } from "../support/flow-stage.js";

const did: string[] = [];
const done = (): string[] => did.splice(0);

function make(program: (s: Steps) => Promise<unknown>, options: FlowOptions = {}): AnyFlow {
  return flow("order", options as never, program as never) as AnyFlow;
}

const pack = (items: readonly string[], bad?: string) => (s: Steps) =>
  s.map("ship", items, { key: (item) => item }, async (item, each) => {
    const packed = await each.step("pack", () => {
      did.push(`pack ${item}`);
      if (item === bad) throw new Error("no box");
      return item.toUpperCase();
    });
    return each.run<string>("send", { exec: `send ${packed}`, outputs: { type: "string" } });
  });
const SENT = {
  send: (assignment: Assignment) => ({
    output: String(assignment.action.exec),
  }),
};

describe("a map", () => {
  it("has a scope for each item, whose steps share a definition", async () => {
    done();
    const view = await (await FlowStage.begin(make(pack(["x", "y"])), null, SENT)).rest();
    expect(view.job("main").output).toEqual({ kind: "value", value: ["send X", "send Y"] });
    expect(view.jobs.map(({ step, scope }) => `${step} ${scope}`)).toEqual([
      "main root",
      "ship root",
      "pack root/ship[0]",
      "pack root/ship[1]",
      "send root/ship[0]",
      "send root/ship[1]",
    ]);
    expect(view.events("step.declared").map(({ definition }) => definition !== null)).toEqual([
      ...[true, true, false, true],
      ...[true],
    ]);
  });

  it("finds items by their keys: in another order, with more of them, and in a new process", async () => {
    done();
    const stage = await FlowStage.begin(make(pack(["x", "y"], "y"), { unhandled: "hold" }), null, SENT);
    await stage.rest();
    expect(done()).toEqual(["pack x", "pack y"]);
    const held = (await stage.view()).job("pack", "root/ship[1]");
    await stage.operate({
      type: "holds.resolve",
      items: [{ job: held.id, action: "retry", output: null, items: null }],
    });
    await stage.resume(make(pack(["z", "y", "x"])));
    const view = await stage.rest();
    expect(view.job("main").output).toEqual({ kind: "value", value: ["send Z", "send Y", "send X"] });
    expect(done()).toEqual(["pack y", "pack z"]);
    expect(view.job("pack", "root/ship[2]").status).toBe("completed");
  });

  it("tells items that fail with the others, and refuses two of one key", async () => {
    done();
    const order = make(async (s) => {
      const twice = await s
        .map("same", ["a", "a"], { key: (item) => item }, async () => 1)
        .catch((e: Error) => e.message);
      const ended = await s.mapSettled("ship", ["x", "y"], { key: (item) => item }, (item, each) =>
        each.step("pack", () => {
          if (item === "x") throw new Error("no box");
          return item;
        }),
      );
      return [twice, ended.map((each) => (each.status === "fulfilled" ? each.value : "none"))];
    });
    const view = await (await FlowStage.begin(order)).rest();
    expect(view.job("main").output).toEqual({
      kind: "value",
      value: ['two items of same have the key "a"', ["none", "y"]],
    });
    expect(view.run.status).toBe("completed");
  });

  it("works on so many items at a time", async () => {
    let [most, now] = [0, 0];
    const items = Array.from({ length: 20 }, (_, n) => n);
    const order = make((s) =>
      s.map("count", items, { key: String, concurrency: 3 }, (_, each) =>
        each.step("work", async () => {
          now += 1;
          most = Math.max(most, now);
          for (let n = 0; n < 5; n += 1) await null;
          now -= 1;
        }),
      ),
    );
    const view = await (await FlowStage.begin(order)).rest();
    expect([view.run.status, most]).toEqual(["completed", 3]);
  });

  it("runs the steps of an item again after a way back", async () => {
    done();
    const stage = await FlowStage.begin(make(pack(["x", "y"])), null, SENT);
    await stage.rest();
    done();
    const job = (await stage.view()).job("pack", "root/ship[1]").id;
    expect(await stage.operate({ type: "step.resume_from", job })).toBe(null);
    const view = await (await stage.resume()).rest();
    expect([view.run.status, done()]).toEqual(["completed", ["pack y"]]);
    const opener = view.job("ship").id;
    expect(await stage.operate({ type: "step.resume_from", job: opener })).toBe(null);
    const again = await (await stage.resume()).rest();
    expect([again.run.status, done()]).toEqual(["completed", ["pack x", "pack y"]]);
  });
});
