import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";

describe("remediation", () => {
  it("runs the listed steps in order, then the failed step once more", {
    tags: ["V1", "V16", "V20", "V59", "V68"],
  }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { run: [lint-fix, format] } }
  lint-fix: { exec: make }
  format: { exec: make }
  after: { exec: make, depends_on: build }`,
      { build: ["fail", "ok"] },
    );
    expect(trace(run)).toEqual([
      "start build",
      "fail build EXIT_1",
      "climb build remediate",
      "remediate build by lint-fix format",
      "start lint-fix",
      "ok lint-fix",
      "start format",
      "ok format",
      "remediated build",
      "start build",
      "ok build",
      "start after",
      "ok after",
      "run completed",
    ]);
    expect(run.job("build")).toMatchObject({ attempt_id: 2, visit: 1 });
    expect(run.events("visit.entered").map(({ visit, role }) => [visit, role])).toEqual([
      [1, "remediation"],
      [1, "remediation"],
    ]);
    expect(run.routes.map(({ rung, to }) => [rung, to])).toEqual([["remediate", "lint-fix, format"]]);
  });

  it("comes after the retries, and only once in a visit", { tags: ["V16"] }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { run: [fix], retry: { max: 1 } } }
  fix: { exec: make }`,
      { build: ["fail"] },
    );
    expect(run.order).toEqual(["build", "build", "fix", "build"]);
    expect(run.run.status).toBe("failed");
    const last = run.events("ladder.climbed").at(-1)!;
    expect(last.considered).toContainEqual({
      rung: "remediate",
      applied: false,
      kind: "no_remediation_left",
      reason: "no remediation left in this visit (1 used)",
    });
  });

  it.each([
    ["run: { steps: [fix], max: 3 }"],
    ["run: [fix], run_max: 3"],
    ["run_js: \"return ['fix']\", run_max: 3"],
    ["run: { steps: fix, max: 3 }, run_js: \"return ['fix']\""],
  ])(
    "repairs as often in a visit as %s says, and each repair is a loop",
    { tags: ["V16"] },
    async (routing) => {
      const run = await trial(
        `steps:
  build: { exec: make, on_fail: { ${routing} } }
  fix: { exec: make, start: routed }
  fallback: { exec: make }
transitions: [{ from: build, to: fallback, on: failure }]`,
        { build: ["fail"] },
      );
      expect(run.order).toEqual(["build", "fix", "build", "fix", "build", "fix", "build", "fallback"]);
      expect(run.events("remediation.started").map(({ remediation, max }) => [remediation, max])).toEqual([
        [1, 3],
        [2, 3],
        [3, 3],
      ]);
      expect(run.events("remediation.finished").map(({ loop }) => loop)).toEqual([1, 2, 3]);
      expect(run.events("ladder.climbed").at(-1)!.considered).toContainEqual({
        rung: "remediate",
        applied: false,
        kind: "no_remediation_left",
        reason: "no remediation left in this visit (3 used)",
      });
      expect(run.run.status).toBe("completed");
    },
  );

  it("stops at the first repair that works, and a bound of 0 allows none", { tags: ["V16"] }, async () => {
    const file = (max: number) => `steps:
  build: { exec: make, on_fail: { run: { steps: [fix], max: ${max} }, retry: { max: 1 } } }
  fix: { exec: make }`;
    const mended = await trial(file(3), { build: ["fail", "fail", "fail", "ok"] });
    expect(mended.order).toEqual(["build", "build", "fix", "build", "fix", "build"]);
    expect(mended.run.status).toBe("completed");
    const none = await trial(file(0), { build: ["fail", "fail", "ok"] });
    expect(none.order).toEqual(["build", "build"]);
    expect(none.run.status).toBe("failed");
  });

  it("each repair is compared with max_loops", { tags: ["V16"] }, async () => {
    const run = await trial(
      `routing: { max_loops: 2 }
steps:
  build: { exec: make, on_fail: { run: { steps: [fix], max: 5 } } }
  fix: { exec: make }`,
      { build: ["fail"] },
    );
    expect(run.order).toEqual(["build", "fix", "build", "fix", "build"]);
    expect(run.job("build").error).toMatchObject({ code: "LOOP_BUDGET_EXCEEDED" });
  });

  it("a new visit has its remediation anew", { tags: ["V16"] }, async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { run: [fix], goto: setup } }
  fix: { exec: make }`,
      { build: ["fail", "fail", "fail", "ok"] },
    );
    expect(run.order).toEqual(["setup", "build", "fix", "build", "setup", "build", "fix", "build"]);
    expect(run.job("fix").visit).toBe(2);
    expect(run.run.status).toBe("completed");
  });

  it("the re-attempt is counted as a routing transition", { tags: ["V16"] }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { run: [fix] }, on_success: { run_js: "return loop === 1 ? ['note'] : []" } }
  fix: { exec: make }
  note: { exec: make, start: routed }`,
      { build: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["build", "fix", "build", "note"]);
  });

  it("a failing remediation stops the run with a clear message, goto or not", { tags: ["V69"] }, async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { run: [fix, never], goto: setup } }
  fix: { exec: make }
  never: { exec: make }
  after: { exec: make, depends_on: build }`,
      { build: [{ exit: 2 }], fix: [{ exit: 3 }] },
    );
    expect(trace(run)).toEqual([
      "start setup",
      "ok setup",
      "start build",
      "fail build EXIT_2",
      "climb build remediate",
      "remediate build by fix never",
      "start fix",
      "fail fix EXIT_3",
      "climb fix fail",
      "failed fix EXIT_3",
      "not remediated build: fix",
      "failed build REMEDIATION_FAILED",
      "canceled after DEPENDENCY_FAILED",
      "skipped never",
      "run failed REMEDIATION_FAILED",
    ]);
    expect(run.run.error?.message).toMatch(
      /build: remediation failed: fix did not complete \(after exit code 2\)/,
    );
    expect(run.events("job.failed")[0]).toMatchObject({
      job: run.job("fix").id,
      part_of: run.job("build").id,
    });
  });

  it("a remediation step has its own retries but no remediation and no goto of its own", {
    tags: ["V16"],
  }, async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { run: [fix] } }
  fix: { exec: make, depends_on: setup, start: routed, on_fail: { retry: { max: 1 }, run: [deeper], goto: setup } }
  deeper: { exec: make }`,
      { build: ["fail", "ok"], fix: ["fail", "fail"] },
    );
    expect(run.order).toEqual(["setup", "build", "fix", "fix"]);
    expect(run.run.error?.code).toBe("REMEDIATION_FAILED");
  });

  it("run_js is appended to run, duplicates dropped, order kept", {
    tags: ["V33", "V62", "V75"],
  }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { run: [a, b], run_js: "return ['c', 'a', 'c', 'd']" } }
  a: { exec: make }
  b: { exec: make }
  c: { exec: make, start: routed }
  d: { exec: make, start: routed }`,
      { build: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["build", "a", "b", "c", "d", "build"]);
  });

  it("an empty run_js alone means no remediation", { tags: ["V31", "V62"] }, async () => {
    const run = await trial(`steps: { build: { exec: make, on_fail: { run_js: "return []" } } }`, {
      build: ["fail"],
    });
    expect(run.order).toEqual(["build"]);
    expect(run.events("ladder.climbed")[0]!.considered.find(({ rung }) => rung === "remediate")).toEqual({
      rung: "remediate",
      applied: false,
      kind: "no_target",
      reason: "run_js named no step",
    });
  });

  it("an unfit step from run_js is refused while the static ones run", { tags: ["V31", "V40"] }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { run: [fix], run_js: "return ['build', 'after', 'late']" } }
  fix: { exec: make }
  after: { exec: make, depends_on: build }
  slow: { exec: make }
  late: { exec: make, depends_on: slow, start: routed }`,
      { build: ["fail", "ok"], slow: [{ output: null, takesMs: 50 }] },
    );
    const [started] = run.events("remediation.started");
    expect(started!.steps).toEqual(["fix"]);
    expect(started!.reason).toContain("build refused: build is the step itself");
    expect(started!.reason).toContain("after refused: after depends on build");
    expect(started!.reason).toContain("late refused: a step that late depends on has not completed");
    expect(run.order.filter((step) => step !== "slow")).toEqual(["build", "fix", "build", "after"]);
    expect(run.run.status).toBe("completed");
  });

  it("a remediation step may be an ordinary step too; its visit leaves its dependents alone", {
    tags: ["V81"],
  }, async () => {
    const run = await trial(
      `steps:
  prepare: { exec: make, start: auto }
  user: { exec: make, depends_on: prepare }
  build: { exec: make, depends_on: user, on_fail: { run: [prepare] } }`,
      { build: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["prepare", "user", "build", "prepare", "build"]);
    expect(run.job("prepare").visit).toBe(2);
    expect(run.job("user").visit).toBe(1);
  });

  it("a routed step that nothing selects is skipped, with its dependents", { tags: ["V81"] }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { run: [fix] } }
  fix: { exec: make }
  report: { exec: make, depends_on: fix }`,
    );
    expect(trace(run)).toEqual(["start build", "ok build", "skipped fix", "skipped report", "run completed"]);
  });
});
