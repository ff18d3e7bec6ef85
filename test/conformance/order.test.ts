import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";

describe("the order of executions", () => {
  it("retries twice with 1.5 s backoff, then succeeds", async () => {
    const run = await trial(
      `steps:
  build: { exec: "true", on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 1500 } } } }
  after: { exec: "true", depends_on: build }`,
      { build: ["fail", "fail", "ok"] },
    );
    expect(run.order).toEqual(["build", "build", "build", "after"]);
    expect(run.times).toEqual([0, 1500, 3000, 3000]);
    expect(run.run.status).toBe("completed");
    expect(run.routes.map((route) => [route.rung, route.step, route.attempt])).toEqual([
      ["retry", "build", 1],
      ["retry", "build", 2],
    ]);
  });

  it("cancels dependents when the retries are used up", async () => {
    const run = await trial(
      `steps:
  build: { exec: "true", on_fail: { retry: { max: 2 } } }
  after: { exec: "true", depends_on: build }
  last: { exec: "true", depends_on: after }`,
      { build: ["fail"] },
    );
    expect(run.order).toEqual(["build", "build", "build"]);
    expect(run.run.status).toBe("failed");
    expect(run.run.error?.code).toBe("EXIT_1");
    expect(run.job("build").status).toBe("failed");
    expect(run.job("after").status).toBe("canceled");
    expect(run.job("last").status).toBe("canceled");
    expect(run.events("jobs.canceled")).toHaveLength(1);
  });

  it("goes back after the retries: setup build build build setup build after", async () => {
    const run = await trial(
      `steps:
  setup: { exec: "true" }
  build: { exec: "true", depends_on: setup, on_fail: { retry: { max: 2 }, goto: setup } }
  after: { exec: "true", depends_on: build }`,
      { build: ["fail", "fail", "fail", "ok"] },
    );
    expect(run.order).toEqual(["setup", "build", "build", "build", "setup", "build", "after"]);
    expect(run.run.status).toBe("completed");
    expect(run.job("setup").visit).toBe(2);
    expect(run.job("after").visit).toBe(1);
  });

  it("remediates: build fix build after", async () => {
    const run = await trial(
      `steps:
  build: { exec: "true", on_fail: { run: [fix] } }
  fix: { exec: "true" }
  after: { exec: "true", depends_on: build }`,
      { build: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["build", "fix", "build", "after"]);
    expect(run.run.status).toBe("completed");
  });

  it("stops when the remediation fails: build fix", async () => {
    const run = await trial(
      `steps:
  build: { exec: "true", on_fail: { run: [fix], goto: setup }, depends_on: setup }
  setup: { exec: "true" }
  fix: { exec: "true" }
  after: { exec: "true", depends_on: build }`,
      { build: ["fail"], fix: ["fail"] },
    );
    expect(run.order).toEqual(["setup", "build", "fix"]);
    expect(run.run.status).toBe("failed");
    expect(run.run.error).toMatchObject({ code: "REMEDIATION_FAILED" });
    expect(run.run.error?.message).toContain("remediation failed");
  });

  it("retries by default where routing.defaults says so", async () => {
    const run = await trial(
      `routing: { defaults: { on_fail: { retry: { max: 1 } } } }
steps: { build: { exec: "true" } }`,
      { build: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["build", "build"]);
    expect(run.run.status).toBe("completed");
  });

  it("ends an endless goto with max_loops 3 after 4 builds", async () => {
    const run = await trial(
      `routing: { max_loops: 3 }
steps:
  setup: { exec: "true" }
  build: { exec: "true", depends_on: setup, on_fail: { goto: setup } }
  after: { exec: "true", depends_on: build }`,
      { build: ["fail"] },
    );
    expect(run.order.filter((step) => step === "build")).toHaveLength(4);
    expect(run.run.error?.code).toBe("LOOP_BUDGET_EXCEEDED");
    expect(run.job("after").status).toBe("canceled");
  });

  it("runs on_success.run, then goto", async () => {
    const run = await trial(
      `steps:
  a: { exec: "true" }
  b: { exec: "true", depends_on: a, on_success: { run: [notify], goto_js: "return visit < 2 ? 'a' : null" } }
  notify: { exec: "true" }
  c: { exec: "true", depends_on: b }`,
    );
    expect(run.order).toEqual(["a", "b", "notify", "a", "b", "notify", "c"]);
    expect(run.run.status).toBe("completed");
  });

  it("repeats only the failing items of a forEach, and reduces once", async () => {
    const run = await trial(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "echo {{ foreach.index }}", depends_on: list, on_fail: { retry: { max: 1 } } }
  sum: { exec: "echo {{ outputs.work }}", depends_on: work, fanout: reduce }`,
      {
        list: [{ output: ["a", "b", "c"] }],
        work: (assignment, nth) =>
          (assignment.variables.foreach as { index: number }).index === 1 && nth === 1 ? "fail" : "ok",
      },
      { capacity: 1 },
    );
    expect(run.order).toEqual(["list", "work[0]", "work[1]", "work[2]", "work[1]", "sum"]);
    expect(run.run.status).toBe("completed");
  });

  it("leaves an unrelated branch alone when another jumps back", async () => {
    const run = await trial(
      `steps:
  setup: { exec: "true" }
  build: { exec: "true", depends_on: setup, on_fail: { goto: setup } }
  s1: { exec: "true" }
  s2: { exec: "true", depends_on: s1 }
  s3: { exec: "true", depends_on: s2 }`,
      {
        build: [{ exit: 1, takesMs: 15 }, { exit: 1, takesMs: 15 }, "ok"],
        s1: [{ output: 1, takesMs: 10 }],
        s2: [{ output: 1, takesMs: 10 }],
        s3: [{ output: 1, takesMs: 10 }],
      },
    );
    expect(run.order.filter((step) => step.startsWith("s") && step !== "setup")).toEqual(["s1", "s2", "s3"]);
    expect(run.order.filter((step) => step === "build")).toHaveLength(3);
    expect(run.run.status).toBe("completed");
  });
});

describe("run lists that wait for each other", () => {
  it("refuses the visit that would close the circle instead of hanging", async () => {
    const run = await trial(
      `steps:
  a: { exec: "true", on_success: { run_js: "return ['b']" } }
  b: { exec: "true", start: routed, on_success: { run_js: "return ['a']" } }
  c: { exec: "true", depends_on: a }`,
    );
    expect(run.order).toEqual(["a", "b", "c"]);
    expect(
      run.events("follow_up.finished").map(({ ok, failed_step: failedStep }) => [ok, failedStep]),
    ).toEqual([[true, null]]);
    expect(run.run.status).toBe("completed");
  });
});
