import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";

describe("loop budget", () => {
  it("an endless ping-pong ends with a clear error after max_loops transitions", {
    tags: ["V2", "V7", "V20", "V44", "V60", "V71"],
  }, async () => {
    const run = await trial(
      `routing: { max_loops: 2 }
steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { goto: setup } }
  after: { exec: make, depends_on: build }
  apart: { exec: make }`,
      { build: ["fail"] },
      { capacity: 1 },
    );
    expect(run.order).toEqual(["setup", "apart", "build", "setup", "build", "setup", "build"]);
    expect(trace(run).slice(-6)).toEqual([
      "fail build EXIT_1",
      "climb build fail",
      "loop budget of root: goto of build after 2 of 2",
      "failed build LOOP_BUDGET_EXCEEDED",
      "abandoned root loop_budget",
      "run failed LOOP_BUDGET_EXCEEDED",
    ]);
    expect(run.run.error?.message).toBe("build: exit code 1 (EXIT_1), and max_loops (2) is used up: 2 loops");
    expect(run.events("ladder.climbed").at(-1)!.considered.slice(-2)).toEqual([
      {
        rung: "goto",
        applied: false,
        kind: "max_loops_used",
        reason: "max_loops (2) is used up: 2 loops; the run ends here",
      },
      { rung: "fail", applied: true, kind: "applies", reason: "no other rung is tried" },
    ]);
    expect(run.job("after").status).toBe("canceled");
    expect(run.job("apart").status).toBe("completed");
  });

  it("retries count toward max_loops", { tags: ["V14"] }, async () => {
    const run = await trial(
      `routing: { max_loops: 2 }
steps: { build: { exec: make, on_fail: { retry: { max: 5 } } } }`,
      { build: ["fail"] },
    );
    expect(run.order).toEqual(["build", "build", "build"]);
    expect(run.events("loop.exceeded")).toMatchObject([
      { transition: "retry", count: 2, max: 2, scope: "root" },
    ]);
    expect(run.run.error).toMatchObject({
      code: "LOOP_BUDGET_EXCEEDED",
      message: "build: exit code 1 (EXIT_1), and max_loops (2) is used up: 2 retries + 0 loops",
    });
  });

  it("the retries of one job do not use up the budget of another, other transitions do", {
    tags: ["V6", "V14", "V42"],
  }, async () => {
    const run = await trial(
      `routing: { max_loops: 2 }
steps:
  a: { exec: make, on_fail: { retry: { max: 2 } } }
  b: { exec: make, depends_on: a, on_fail: { retry: { max: 1 }, run: [fix] } }
  fix: { exec: make }
  c: { exec: make, depends_on: b, on_fail: { retry: { max: 2 } } }`,
      { a: ["fail", "fail", "ok"], b: ["fail", "fail", "ok"], c: ["fail", "fail", "ok"] },
    );
    expect(run.order).toEqual(["a", "a", "a", "b", "b", "fix", "b", "c", "c"]);
    expect(run.events("loop.exceeded")).toMatchObject([{ transition: "retry", count: 2 }]);
  });

  it("the retries of a job count where it wants another, not for its goto", { tags: ["V14"] }, async () => {
    const run = await trial(
      `routing: { max_loops: 2 }
steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, on_fail: { retry: { max: 2 }, goto: a } }`,
      { b: ["fail", "fail", "fail", "ok"] },
    );
    expect(run.order).toEqual(["a", "b", "b", "b", "a", "b"]);
    expect(run.run.status).toBe("completed");
  });

  it("remediation, goto and success goto of all steps spend one budget of the root scope", {
    tags: ["V6", "V18", "V42"],
  }, async () => {
    const run = await trial(
      `routing: { max_loops: 3 }
steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, on_fail: { run: [fix], goto: a } }
  fix: { exec: make }
  c: { exec: make, depends_on: b, on_success: { goto_js: "return visit < 3 ? 'b' : null" } }`,
      { b: ["fail", "fail", "ok"] },
    );
    // b remediated (1), b goes back (2), c goes back (3), c would go back again.
    expect(run.order).toEqual(["a", "b", "fix", "b", "a", "b", "c", "b", "c"]);
    expect(run.events("goto.taken").map(({ loop }) => loop)).toEqual([2, 3]);
    expect(run.events("loop.exceeded")).toMatchObject([{ transition: "on_success.goto", count: 3, max: 3 }]);
    expect(run.run).toMatchObject({ status: "failed", error: { code: "LOOP_BUDGET_EXCEEDED" } });
    expect(run.job("c").status).toBe("completed");
  });

  it("a remediation past the budget does not even start", { tags: ["V44"] }, async () => {
    const run = await trial(
      `routing: { max_loops: 0 }
steps:
  build: { exec: make, on_fail: { run: [fix] } }
  fix: { exec: make }`,
      { build: ["fail"] },
    );
    expect(run.order).toEqual(["build"]);
    expect(run.events("loop.exceeded")).toMatchObject([{ transition: "remediate", count: 0, max: 0 }]);
  });

  it("the scope fails at once, whatever other rungs and policies exist: what runs is ended", {
    tags: ["V44"],
  }, async () => {
    const run = await trial(
      `routing: { max_loops: 0 }
steps:
  build: { exec: make, continue_on_failure: true, on_fail: { retry: { max: 1 }, goto_js: "return null" } }
  after: { exec: make, depends_on: build }
  slow: { exec: make }
  later: { exec: make, depends_on: slow }`,
      { build: [{ exit: 1, takesMs: 10 }], slow: [{ output: null, takesMs: 1000 }] },
    );
    expect(trace(run)).toEqual([
      "start build",
      "start slow",
      "fail build EXIT_1",
      "climb build fail",
      "loop budget of root: retry of build after 0 of 0",
      "failed build LOOP_BUDGET_EXCEEDED",
      "abandoned root loop_budget",
      "stopped slow loop_budget",
      "run failed LOOP_BUDGET_EXCEEDED",
    ]);
    expect(run.worker.stopped).toEqual(["slow"]);
    expect(run.job("slow")).toMatchObject({ status: "canceled", error: { code: "LOOP_BUDGET_EXCEEDED" } });
    expect(run.job("after").status).toBe("canceled");
    expect(run.job("later").status).toBe("canceled");
  });

  it("each item has its own budget; the one that passes it fails alone", {
    tags: ["V43", "V44", "V45", "V46", "V66"],
  }, async () => {
    const run = await trial(
      `routing: { max_loops: 1 }
steps:
  list: { exec: make, forEach: true }
  fetch: { exec: "{{ foreach.index }}", depends_on: list }
  work: { exec: "{{ foreach.index }}", depends_on: fetch, on_fail: { goto: fetch } }
  more: { exec: "{{ foreach.index }}", depends_on: work }
  sum: { exec: make, depends_on: more, fanout: reduce, join: any }`,
      {
        list: [{ output: ["a", "b", "c"] }],
        work: ({ variables }, nth) => {
          const { key } = variables.foreach as { key: string };
          if (key === "b") return "fail";
          return nth === 1 ? "fail" : "ok";
        },
      },
      { capacity: 1 },
    );
    expect(run.order.filter((step) => step.endsWith("[1]"))).toEqual([
      "fetch[1]",
      "work[1]",
      "fetch[1]",
      "work[1]",
    ]);
    expect(run.order.filter((step) => step.endsWith("[0]"))).toEqual([
      "fetch[0]",
      "work[0]",
      "fetch[0]",
      "work[0]",
      "more[0]",
    ]);
    expect(run.events("loop.exceeded")).toMatchObject([
      { scope: "root/list[1]", transition: "goto", count: 1, max: 1 },
    ]);
    expect(run.events("scope.abandoned")).toMatchObject([{ scope: "root/list[1]", because: "loop_budget" }]);
    expect(run.job("more", "root/list[1]").status).toBe("canceled");
    expect(run.events("join.decided")).toMatchObject([
      { satisfied: true, completed: 2, failed: 1, skipped: 0 },
    ]);
    expect(run.order.at(-1)).toBe("sum");
    expect(run.run.status).toBe("completed");
    expect(run.job("work", "root/list[1]").handled).toBe(true);
  });

  it("an item past its budget fails the run where its join needs it", { tags: ["V43"] }, async () => {
    const run = await trial(
      `routing: { max_loops: 1 }
steps:
  list: { exec: make, forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, on_fail: { retry: { max: 3 } } }
  sum: { exec: make, depends_on: work, fanout: reduce }
  after: { exec: make, depends_on: sum }`,
      {
        list: [{ output: ["a", "b"] }],
        work: ({ variables }) => ((variables.foreach as { index: number }).index === 0 ? "fail" : "ok"),
      },
      { capacity: 1 },
    );
    expect(run.order).toEqual(["list", "work[0]", "work[1]", "work[0]"]);
    expect(run.job("sum")).toMatchObject({ status: "canceled", error: { code: "JOIN_UNSATISFIED" } });
    expect(run.run).toMatchObject({ status: "failed", error: { code: "LOOP_BUDGET_EXCEEDED" } });
  });

  it("the budget starts anew with each run", { tags: ["V2", "V45"] }, async () => {
    const text = `routing: { max_loops: 1 }
steps: { build: { exec: make, on_fail: { retry: { max: 1 } } } }`;
    for (let again = 0; again < 2; again += 1) {
      const run = await trial(text, { build: ["fail", "ok"] });
      expect(run.run.status).toBe("completed");
      expect(run.events("attempt.started").map(({ attempt }) => attempt)).toEqual([1, 2]);
    }
  });
});
