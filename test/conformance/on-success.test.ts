import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";

describe("on_success", () => {
  it("runs run and run_js, then the goto, and only then the dependents", {
    tags: ["V11", "V17", "V22", "V34"],
  }, async () => {
    const run = await trial(
      `steps:
  unit: { exec: make }
  summary:
    exec: make
    depends_on: unit
    on_success:
      run: [notify]
      run_js: "return ['extra', 'notify']"
      goto_js: "return visit === 1 ? 'unit' : null"
  notify: { exec: make }
  extra: { exec: make, start: routed }
  after: { exec: make, depends_on: summary }`,
    );
    expect(trace(run)).toEqual([
      "start unit",
      "ok unit",
      "start summary",
      "ok summary",
      'evaluated summary on_success.run_js: ["extra","notify"]',
      "follow up summary by notify extra",
      "start notify",
      "ok notify",
      "start extra",
      "ok extra",
      "followed up summary",
      'evaluated summary on_success.goto_js: "unit"',
      "goto summary -> unit after success, loop 1",
      "again unit summary after",
      "start unit",
      "ok unit",
      "start summary",
      "ok summary",
      'evaluated summary on_success.run_js: ["extra","notify"]',
      "follow up summary by notify extra",
      "start notify",
      "ok notify",
      "start extra",
      "ok extra",
      "followed up summary",
      "evaluated summary on_success.goto_js: null",
      "start after",
      "ok after",
      "run completed",
    ]);
    expect(run.job("after").visit).toBe(1);
    expect(run.job("notify").visit).toBe(2);
    expect(run.routes.map(({ rung, to }) => [rung, to])).toEqual([
      ["on_success", "notify, extra"],
      ["on_success", "unit"],
      ["on_success", "notify, extra"],
    ]);
  });

  it("a success goto converges when its expression says so", { tags: ["V77"] }, async () => {
    const run = await trial(
      `steps:
  unit: { exec: make }
  summary: { exec: make, depends_on: unit, on_success: { goto_js: "return /retest/i.test(outputs.summary) ? 'unit' : null" } }`,
      { summary: [{ output: "please retest" }, { output: "Retest" }, { output: "fine" }] },
    );
    expect(run.order).toEqual(["unit", "summary", "unit", "summary", "unit", "summary"]);
    expect(run.run.status).toBe("completed");
  });

  it("a success goto that never ends fails with a clear trace at max_loops", {
    tags: ["V44", "V77"],
  }, async () => {
    const run = await trial(
      `routing: { max_loops: 2 }
steps:
  unit: { exec: make }
  summary: { exec: make, depends_on: unit, on_success: { goto: unit } }
  after: { exec: make, depends_on: summary }`,
    );
    expect(run.order).toEqual(["unit", "summary", "unit", "summary", "unit", "summary"]);
    expect(trace(run).slice(-4)).toEqual([
      "ok summary",
      "loop budget of root: on_success.goto of summary after 2 of 2",
      "abandoned root loop_budget",
      "run failed LOOP_BUDGET_EXCEEDED",
    ]);
    expect(run.job("summary").status).toBe("completed");
    expect(run.job("after").status).toBe("canceled");
  });

  it("a failing on_success step stops the list and the goto, not the dependents", {
    tags: ["V17"],
  }, async () => {
    const run = await trial(
      `steps:
  unit: { exec: make }
  summary: { exec: make, depends_on: unit, on_success: { run: [notify, never], goto: unit } }
  notify: { exec: make }
  never: { exec: make }
  after: { exec: make, depends_on: summary }`,
      { notify: ["fail"] },
    );
    expect(trace(run)).toEqual([
      "start unit",
      "ok unit",
      "start summary",
      "ok summary",
      "follow up summary by notify never",
      "start notify",
      "fail notify EXIT_1",
      "climb notify fail",
      "failed notify EXIT_1",
      "not followed up summary: notify",
      "start after",
      "ok after",
      "skipped never",
      "run failed EXIT_1",
    ]);
    expect(run.job("summary").status).toBe("completed");
    expect(run.run.error?.message).toContain("notify");
  });

  it("an on_success step may retry by its own policy", { tags: ["V17"] }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_success: { run: [notify] } }
  notify: { exec: make, on_fail: { retry: { max: 1 } } }`,
      { notify: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["build", "notify", "notify"]);
    expect(run.run.status).toBe("completed");
  });

  it("a goto_js of on_success wins over its goto, null leaves it in force", {
    tags: ["V32", "V75"],
  }, async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a }
  c: { exec: make, depends_on: b, on_success: { goto: a, goto_js: "return attempt === 1 ? 'b' : null" } }`,
      {},
      { options: { max_loops: 2 } },
    );
    expect(run.order).toEqual(["a", "b", "c", "b", "c", "a", "b", "c"]);
    expect(run.run.error?.code).toBe("LOOP_BUDGET_EXCEEDED");
  });

  it("a refused run_js or goto_js of on_success leaves the static keys in force", {
    tags: ["V40"],
  }, async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, on_success: { run: [note], run_js: "throw new Error('x')", goto_js: "throw new Error('y')" } }
  note: { exec: make }
  c: { exec: make, depends_on: b }`,
    );
    expect(run.order).toEqual(["a", "b", "note", "c"]);
    expect(run.events("evaluation.finished").map(({ result }) => result.ok)).toEqual([false, false]);
    expect(run.run.status).toBe("completed");
  });

  it("goto_js is evaluated after the run list and sees what it did", { tags: ["V22"] }, async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, on_success: { run: [verdict], goto_js: "return outputs.verdict === 'again' ? 'a' : null" } }
  verdict: { exec: make }`,
      { verdict: [{ output: "again" }, { output: "fine" }] },
    );
    expect(run.order).toEqual(["a", "b", "verdict", "a", "b", "verdict"]);
  });

  it("a forEach step opens its items only after its on_success list", { tags: ["V17"] }, async () => {
    const run = await trial(
      `steps:
  list: { exec: make, forEach: true, on_success: { run: [note] } }
  note: { exec: make }
  work: { exec: "{{ foreach.index }}", depends_on: list }`,
      { list: [{ output: ["a", "b"] }] },
      { capacity: 1 },
    );
    expect(run.order).toEqual(["list", "note", "work[0]", "work[1]"]);
  });
});
