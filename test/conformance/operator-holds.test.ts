import { describe, expect, it } from "vitest";
import type { HoldAction } from "../../src/core/model/events.js";
import type { Json } from "../../src/core/text/json.js";
import type { Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const TWO = `unhandled: hold
steps:
  x: { exec: "true" }
  y: { exec: "true" }
  after-x: { exec: "use {{ outputs.x | default: 'nothing' }}", depends_on: x }
  after-y: { exec: "true", depends_on: y }`;

async function heldStage(
  text = TWO,
  script: Parameters<typeof Stage.begin>[1] = { x: ["fail", "ok"], y: ["fail", "ok"] },
) {
  const stage = await Stage.begin(text, script);
  expect((await stage.rest()).run.status).toBe("held");
  return stage;
}

async function decision(stage: Stage, step: string, action: HoldAction, value: Json = null) {
  return {
    job: await stage.id(step),
    action,
    output: action === "complete" ? ({ kind: "value", value } as const) : null,
    items:
      action === "complete" && Array.isArray(value)
        ? value.map((_, index) => ({ key: String(index) }))
        : null,
  };
}

describe("resolve", () => {
  it("skip gives dependents that read the output null, as continue_on_failure does", async () => {
    const text = `unhandled: hold\nsteps:\n  x: { exec: "true" }\n  after: { exec: "use {{ outputs.x | json }}", depends_on: x }`;
    const stage = await heldStage(text, { x: ["fail"] });
    expect(
      await stage.operate({ type: "holds.resolve", items: [await decision(stage, "x", "skip")] }),
    ).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.job("after").status).toBe("completed");
    expect(run.run.status).toBe("completed");
  });

  it("several holds at once, each in its way", async () => {
    const stage = await heldStage();
    const items = [await decision(stage, "x", "complete", "given"), await decision(stage, "y", "fail")];
    expect(await stage.operate({ type: "holds.resolve", items })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(trace(run)).toContain("resolved x complete");
    expect(run.job("x")).toMatchObject({ status: "completed", output: { value: "given" }, error: null });
    expect(run.job("after-x").status).toBe("completed");
    expect(run.job("y").status).toBe("failed");
    expect(run.job("after-y").status).toBe("canceled");
    expect(run.run.status).toBe("failed");
  });

  it("complete hands its output to the dependents, skip lets them run without one", async () => {
    const used: string[] = [];
    const script: Script = {
      x: ["fail"],
      y: ["fail", "ok"],
      "after-x": ({ action }) => {
        used.push(String(action.exec));
        return "ok";
      },
    };
    const completed = await heldStage(TWO, script);
    await completed.operate({
      type: "holds.resolve",
      items: [await decision(completed, "x", "complete", "given"), await decision(completed, "y", "retry")],
    });
    expect((await (await completed.resume()).rest()).run.status).toBe("completed");
    const skipped = await heldStage(
      TWO.replace("use {{ outputs.x | default: 'nothing' }}", "use nothing"),
      script,
    );
    await skipped.operate({
      type: "holds.resolve",
      items: [await decision(skipped, "x", "skip"), await decision(skipped, "y", "retry")],
    });
    const run = await (await skipped.resume()).rest();
    expect(run.job("x").status).toBe("skipped");
    expect(run.run.status).toBe("completed");
    expect(used).toEqual(["use given", "use nothing"]);
  });

  it("is all or nothing: one that is not held refuses them all", async () => {
    const stage = await heldStage();
    const items = [await decision(stage, "x", "retry"), await decision(stage, "after-x", "retry")];
    expect(await stage.operate({ type: "holds.resolve", items })).toBe("NOT_HELD");
    const twice = [await decision(stage, "x", "retry"), await decision(stage, "x", "fail")];
    expect(await stage.operate({ type: "holds.resolve", items: twice })).toBe("USAGE");
    const unknown = { job: 1, action: "fail", output: null, items: null } as const;
    expect(await stage.operate({ type: "holds.resolve", items: [unknown] })).toBe("STEP_NOT_FOUND");
    expect((await stage.view()).events("hold.resolved")).toEqual([]);
    expect(await stage.statuses("x", "y")).toEqual(["held", "held"]);
  });

  it("twice with the same key is once", async () => {
    const stage = await heldStage(TWO, { x: ["fail"], y: ["fail", "ok"] });
    const items = [await decision(stage, "x", "retry")];
    expect(await stage.operate({ type: "holds.resolve", items, key: "k" })).toBeNull();
    expect((await (await stage.resume()).rest()).run.status).toBe("held");
    expect(await stage.operate({ type: "holds.resolve", items, key: "k" })).toBeNull();
    expect((await stage.view()).events("hold.resolved")).toHaveLength(1);
  });

  it("a retry that fails again is held again, with its budgets anew", async () => {
    const stage = await heldStage(
      `unhandled: hold\nsteps: { x: { exec: "true", on_fail: { retry: { max: 1 } } } }`,
      { x: ["fail"] },
    );
    await stage.operate({ type: "holds.resolve", items: [await decision(stage, "x", "retry")] });
    const run = await (await stage.resume()).rest();
    expect(run.order).toHaveLength(4);
    expect(run.job("x")).toMatchObject({ status: "held", visit: 2 });
    expect(run.events("run.held")).toHaveLength(2);
  });

  it("one of two leaves the run held", async () => {
    const stage = await heldStage();
    await stage.operate({ type: "holds.resolve", items: [await decision(stage, "x", "retry")] });
    const run = await (await stage.resume()).rest();
    expect(run.run.status).toBe("held");
    expect(run.job("after-x").status).toBe("completed");
  });

  it("fail with fail_fast gives up the other holds too", async () => {
    const stage = await heldStage(`failure_policy: fail_fast\n${TWO}`);
    const items = [await decision(stage, "x", "fail"), await decision(stage, "y", "retry")];
    expect(await stage.operate({ type: "holds.resolve", items })).toBeNull();
    const run = await stage.view();
    expect(run.run.status).toBe("failed");
    expect(await stage.statuses("x", "y")).toEqual(["failed", "canceled"]);
    expect(run.events("hold.resolved")).toHaveLength(1);
  });

  it("on a live run, while other jobs run", async () => {
    const stage = await Stage.begin(TWO, { x: ["fail", "ok"], y: [{ output: null, takesMs: 100 }] });
    expect(
      await stage.operate({ type: "holds.resolve", items: [await decision(stage, "x", "retry")] }),
    ).toBeNull();
    const run = await stage.rest();
    expect(run.order).toEqual(["x", "y", "x", "after-x", "after-y"]);
    expect(run.run.status).toBe("completed");
  });

  it("complete of a forEach step needs an array, and opens its items", async () => {
    const text = `unhandled: hold
steps:
  list: { exec: "true", forEach: true }
  work: { exec: "true", depends_on: list }
  sum: { exec: "true", depends_on: work, fanout: reduce }`;
    const stage = await heldStage(text, { list: ["fail"] });
    expect(
      await stage.operate({ type: "holds.resolve", items: [await decision(stage, "list", "complete", 7)] }),
    ).toBe("NOT_AN_ARRAY");
    expect(
      await stage.operate({
        type: "holds.resolve",
        items: [await decision(stage, "list", "complete", [1, 2])],
      }),
    ).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["list", "work", "work", "sum"]);
  });

  it("a held handler that a person retries handles the failure that led to it", async () => {
    const stage = await heldStage(
      `unhandled: hold\nsteps: { a: { exec: "true" }, fix: { exec: "true" } }\ntransitions: [{ from: a, to: fix, on: failure }]`,
      { a: ["fail"], fix: ["fail", "ok"] },
    );
    await stage.operate({ type: "holds.resolve", items: [await decision(stage, "fix", "retry")] });
    const run = await (await stage.resume()).rest();
    expect(run.job("a").handled).toBe(true);
    expect(run.run.status).toBe("completed");
  });

  it("a goto over a hold drops it", async () => {
    const stage = await Stage.begin(
      `unhandled: hold
steps:
  setup: { exec: "true" }
  x: { exec: "true", depends_on: setup }
  y: { exec: "true", depends_on: setup, on_fail: { goto: setup } }`,
      { x: ["fail", "ok"], y: [{ exit: 1, takesMs: 50 }, "ok"] },
    );
    expect(await stage.statuses("x")).toEqual(["held"]);
    const run = await stage.rest();
    expect(run.run.status).toBe("completed");
    expect(run.order).toEqual(["setup", "x", "y", "setup", "x", "y"]);
  });
});
