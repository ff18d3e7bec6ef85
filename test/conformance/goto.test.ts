import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";

describe("goto", () => {
  it("after the retries jumps back, goes forward and runs the failed step again", {
    tags: ["V1", "V5", "V15", "V58", "V67"],
  }, async () => {
    const run = await trial(
      `steps:
  setup-env: { exec: make }
  build: { exec: make, depends_on: setup-env }
  test: { exec: make, depends_on: build, on_fail: { retry: { max: 1 }, goto: setup-env } }
  after: { exec: make, depends_on: test }`,
      { test: ["fail", "fail", "ok"] },
    );
    expect(trace(run)).toEqual([
      "start setup-env",
      "ok setup-env",
      "start build",
      "ok build",
      "start test",
      "fail test EXIT_1",
      "climb test retry",
      "retry test 1/1 +0",
      "start test",
      "fail test EXIT_1",
      "climb test goto",
      "goto test -> setup-env after failure, loop 1",
      "again setup-env build test after",
      "start setup-env",
      "ok setup-env",
      "start build",
      "ok build",
      "start test",
      "ok test",
      "start after",
      "ok after",
      "run completed",
    ]);
    expect(run.job("test")).toMatchObject({ attempt_id: 3, visit: 2, status: "completed" });
    expect(run.job("after")).toMatchObject({ attempt_id: 1, visit: 1 });
    expect(run.events("attempt.started").map(({ visit }) => visit)).toEqual([1, 1, 1, 1, 2, 2, 2, 1]);
  });

  it("the retries of a step start anew with each visit", { tags: ["V15"] }, async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { retry: { max: 1 }, goto: setup } }`,
      { build: ["fail", "fail", "fail", "ok"] },
    );
    expect(run.order).toEqual(["setup", "build", "build", "setup", "build", "build"]);
    expect(run.events("retry.scheduled").map(({ retry, max }) => `${retry}/${max}`)).toEqual(["1/1", "1/1"]);
    expect(run.run.status).toBe("completed");
  });

  it("outputs of steps that run again are recomputed, and no dependent sees the old ones", {
    tags: ["V19"],
  }, async () => {
    const seen: unknown[] = [];
    const run = await trial(
      `steps:
  fetch: { exec: make }
  pack: { exec: "pack {{ outputs.fetch }}", depends_on: fetch }
  test: { exec: "test {{ outputs.pack }}", depends_on: pack, on_fail: { goto: fetch } }`,
      {
        fetch: [{ output: "v1" }, { output: "v2" }],
        pack: (assignment) => ({ output: `packed-${(assignment.action.exec as string).slice(5)}` }),
        test: (assignment, nth) => {
          seen.push(assignment.action.exec);
          return nth === 1 ? "fail" : "ok";
        },
      },
    );
    expect(seen).toEqual(["test packed-v1", "test packed-v2"]);
    expect(run.job("pack").output).toEqual({ kind: "value", value: "packed-v2" });
    expect(run.run.status).toBe("completed");
  });

  it("while the jump is under way the old output is gone, so that an expression cannot use it", {
    tags: ["V19"],
  }, async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a }
  c: { exec: make, depends_on: b, on_fail: { goto: a } }
  a2: { exec: make, depends_on: a, if: "return visit === 1 || outputs.b === undefined" }`,
      { a: [{ output: 1 }], b: [{ output: 1 }, { output: 2, takesMs: 10 }], c: ["fail", "ok"] },
    );
    expect(run.job("a2")).toMatchObject({ status: "completed", visit: 2 });
  });

  it("a dynamic target that is no ancestor is refused with its reason, and the failure climbs on", {
    tags: ["V15", "V50"],
  }, async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  other: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { goto_js: "return 'other'" } }`,
      { build: ["fail"] },
    );
    expect(run.order.filter((step) => step === "build")).toHaveLength(1);
    expect(run.run.status).toBe("failed");
    const goto = run.events("ladder.climbed")[0]!.considered.find(({ rung }) => rung === "goto");
    expect(goto).toMatchObject({
      applied: false,
      reason: expect.stringContaining("other is not a step that build depends on"),
    });
    expect(run.events("goto.taken")).toEqual([]);
  });

  it.each([
    ["build", "the step itself"],
    ["after", "its dependent"],
  ])("a goto_js to %s, %s, is refused", { tags: ["V15"] }, async (target) => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { goto_js: "return '${target}'" } }
  after: { exec: make, depends_on: build }`,
      { build: ["fail"] },
    );
    expect(run.order).toEqual(["build"]);
    expect(run.events("goto.taken")).toEqual([]);
  });

  it("invalidates the target and its descendants only; siblings and ancestors keep their results", {
    tags: ["V15"],
  }, async () => {
    const run = await trial(
      `steps:
  root: { exec: make }
  left: { exec: make, depends_on: root }
  left2: { exec: make, depends_on: left, on_fail: { goto: left } }
  right: { exec: make, depends_on: root }
  right2: { exec: make, depends_on: right }
  end: { exec: make, depends_on: [left2, right2] }`,
      { left2: ["fail", "ok"] },
      { capacity: 1 },
    );
    const count = (step: string) => run.order.filter((other) => other === step).length;
    expect(["root", "left", "left2", "right", "right2", "end"].map(count)).toEqual([1, 2, 2, 1, 1, 1]);
    expect(run.events("barrier.closed").map(({ invalidated }) => invalidated.length)).toEqual([3]);
    expect(run.job("right2").visit).toBe(1);
    expect(run.run.status).toBe("completed");
  });

  it("the log names each transition with its target, trigger, loop and reason", {
    tags: ["V20", "V73"],
  }, async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { goto: setup } }`,
      { build: ["fail", "ok"] },
    );
    const [build] = [run.job("build")];
    expect(run.events("attempt.failed")).toMatchObject([
      { job: build.id, attempt: 1, error: { code: "EXIT_1", class: "application", exit_code: 1 } },
    ]);
    expect(run.events("goto.taken")).toEqual([
      {
        type: "goto.taken",
        job: build.id,
        attempt: 1,
        target: run.job("setup").id,
        to: "setup",
        trigger: "failure",
        goto: 1,
        max: null,
        loop: 1,
        reason: "goto",
      },
    ]);
    expect(run.events("ladder.climbed")[0]!.considered.map(({ rung, applied }) => [rung, applied])).toEqual([
      ["stop", false],
      ["restart", false],
      ["park", false],
      ["rule", false],
      ["retry", false],
      ["reset", false],
      ["remediate", false],
      ["goto", true],
    ]);
    expect(run.routes).toMatchObject([
      { rung: "goto", step: "build", to: "setup", attempt: 1, scope: "root" },
    ]);
  });
});
