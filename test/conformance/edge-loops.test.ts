import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

describe("chains and revisits", () => {
  it("a fails to b, b fails to c, c completes: the run is completed and lists both", {
    tags: ["A10", "A11"],
  }, async () => {
    const run = await trial(
      `steps: { a: { exec: "true" }, b: { exec: "true" }, c: { exec: "true" }, d: { exec: "true", depends_on: a } }
transitions:
  - { from: a, to: b, on: failure }
  - { from: b, to: c, on: failure }`,
      { a: ["fail"], b: ["fail"] },
    );
    expect(run.order).toEqual(["a", "b", "c"]);
    expect(run.run.status).toBe("completed");
    expect(run.events("run.completed")[0]!.handled).toEqual([run.job("a").id, run.job("b").id]);
    expect([run.job("a").handled, run.job("b").handled]).toEqual([true, true]);
    expect(run.job("d").status).toBe("skipped");
  });

  it("fix, then again by edges: the step ends completed and its dependents run", {
    tags: ["A14"],
  }, async () => {
    const run = await trial(
      `steps: { a: { exec: "true", start: auto }, fix: { exec: "true" }, d: { exec: "true", depends_on: a } }
transitions:
  - { from: a, to: fix, on: failure }
  - { from: fix, to: a }`,
      { a: ["fail", "ok"] },
    );
    expect(trace(run)).toEqual([
      "start a",
      "fail a EXIT_1",
      "climb a edge",
      "failed a EXIT_1",
      "edge 1 a -> fix on failure",
      "start fix",
      "ok fix",
      "edge 2 fix -> a on success, again",
      "again a d",
      "start a",
      "ok a",
      "start d",
      "ok d",
      "run completed",
    ]);
    expect(run.job("a")).toMatchObject({ status: "completed", visit: 2 });
    expect(run.events("run.completed")[0]!.handled).toEqual([]);
  });

  it("a fix that never helps ends by LOOP_BUDGET_EXCEEDED, not in an endless loop", {
    tags: ["A14"],
  }, async () => {
    const run = await trial(
      `routing: { max_loops: 4 }
steps: { a: { exec: "true", start: auto }, fix: { exec: "true" } }
transitions:
  - { from: a, to: fix, on: failure }
  - { from: fix, to: a }`,
      { a: ["fail"] },
    );
    expect(run.order).toEqual(["a", "fix", "a", "fix", "a", "fix"]);
    expect(run.events("edge.taken").map(({ counted }) => counted)).toEqual([false, true, true, true, true]);
    expect(run.run).toMatchObject({ status: "failed", error: { code: "LOOP_BUDGET_EXCEEDED" } });
  });

  it("visits by edges do not eat the retry budget", { tags: ["A4"] }, async () => {
    const run = await trial(
      `steps: { a: { exec: "true", start: auto, on_fail: { retry: { max: 1 } } }, fix: { exec: "true" } }
transitions:
  - { from: a, to: fix, on: failure }
  - { from: fix, to: a }`,
      { a: ["fail", "fail", "fail", "fail", "fail", "ok"] },
    );
    expect(run.order).toEqual(["a", "a", "fix", "a", "a", "fix", "a", "a"]);
    expect(run.events("retry.scheduled").map(({ retry, max }) => `${retry}/${max}`)).toEqual([
      "1/1",
      "1/1",
      "1/1",
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("an operator's reset leaves handled failures alone", { tags: ["A25"] }, async () => {
    const stage = await Stage.begin(
      `steps: { a: { exec: "true" }, fix: { exec: "true" }, bad: { exec: "true" } }
transitions: [{ from: a, to: fix, on: failure }]`,
      { a: ["fail"], bad: ["fail", "ok"] },
    );
    expect((await stage.rest()).run.status).toBe("failed");
    expect(await stage.operate({ type: "run.reset" })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "bad", "fix", "bad"]);
    expect(run.job("a")).toMatchObject({ status: "failed", handled: true, attempt_id: 1 });
    expect(run.run.status).toBe("completed");
  });

  it("a revisited target begins anew with what depends on it", { tags: ["A14"] }, async () => {
    const run = await trial(
      `steps:
  build: { exec: "true" }
  pack: { exec: "true", depends_on: build }
  check: { exec: "true", depends_on: pack }
  beside: { exec: "true" }
transitions: [{ from: check, to: build, on: failure }]`.replace(
        'build: { exec: "true" }',
        'build: { exec: "true", start: auto }',
      ),
      { check: ["fail", "ok"] },
    );
    expect(run.order.filter((step) => step !== "beside")).toEqual([
      "build",
      "pack",
      "check",
      "build",
      "pack",
      "check",
    ]);
    expect(run.order.filter((step) => step === "beside")).toHaveLength(1);
    expect(run.job("check")).toMatchObject({ status: "completed", visit: 2 });
    expect(run.run.status).toBe("completed");
  });

  it("a success edge back makes its own step begin anew: its dependents wait for the last visit", {
    tags: ["A14"],
  }, async () => {
    const run = await trial(
      `steps:
  build: { exec: "true", start: auto }
  check: { exec: "true", depends_on: build }
  after: { exec: "true", depends_on: check }
transitions: [{ from: check, to: build, when: "visit < 3" }]`,
    );
    expect(run.order).toEqual(["build", "check", "build", "check", "build", "check", "after"]);
    expect(run.run.status).toBe("completed");
  });

  it("a failure counts by the route of the job's last visit", { tags: ["A11"] }, async () => {
    // The first visit's failure was handled; the second's is not.
    const run = await trial(
      `steps: { a: { exec: "true", start: auto }, fix: { exec: "true" } }
transitions:
  - { from: a, to: fix, on: failure, when: "visit === 1" }
  - { from: fix, to: a }`,
      { a: ["fail"] },
    );
    expect(run.order).toEqual(["a", "fix", "a"]);
    expect(run.run.status).toBe("failed");
    expect(run.job("a").handled).toBe(false);
  });

  it("an operator's retry of a handler that had failed makes good for its source", {
    tags: ["A11"],
  }, async () => {
    const stage = await Stage.begin(
      `steps: { a: { exec: "true" }, fix: { exec: "true" }, d: { exec: "true", depends_on: a } }
transitions: [{ from: a, to: fix, on: failure }]`,
      { a: ["fail"], fix: ["fail", "ok"] },
    );
    expect((await stage.rest()).run.status).toBe("failed");
    await stage.operate({ type: "step.retry", job: await stage.id("fix") });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "fix", "fix"]);
    expect(run.job("a").handled).toBe(true);
    expect(run.run.status).toBe("completed");
  });

  it("edges in forEach scopes stay in their branch, with budgets of their own", {
    tags: ["A10"],
  }, async () => {
    const run = await trial(
      `routing: { max_loops: 2 }
steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list }
  fix: { exec: "{{ foreach.index }}" }
  sum: { exec: "true", depends_on: work, fanout: reduce, join: any }
transitions:
  - { from: work, to: fix, on: failure }
  - { from: fix, to: work }`,
      {
        list: [{ output: ["a", "b", "c"] }],
        work: ({ variables }, nth) => {
          const { index } = variables.foreach as { index: number };
          return index === 0 || (index === 1 && nth === 2) ? "ok" : "fail";
        },
      },
    );
    const branch = (index: number) =>
      run.order.filter((step) => step.endsWith(`[${index}]`)).map((step) => step.slice(0, -3));
    expect(branch(0)).toEqual(["work"]);
    expect(branch(1)).toEqual(["work", "fix", "work"]);
    expect(branch(2)).toEqual(["work", "fix", "work", "fix"]);
    expect(run.job("work", "root/list[1]").status).toBe("completed");
    expect(run.job("work", "root/list[2]").error).toMatchObject({ code: "EXIT_1" });
    expect(run.events("loop.exceeded")).toMatchObject([
      { scope: "root/list[2]", transition: "on_success.edge" },
    ]);
    expect(run.job("sum").status).toBe("completed");
    expect(run.run.status).toBe("completed");
  });

  it("a failure that a join tolerates is handled together with its handler's", {
    tags: ["A10"],
  }, async () => {
    const run = await trial(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list }
  fix: { exec: "{{ foreach.index }}" }
  sum: { exec: "true", depends_on: work, fanout: reduce, join: any }
transitions: [{ from: work, to: fix, on: failure }]`,
      {
        list: [{ output: ["a", "b"] }],
        work: ({ variables }) => ((variables.foreach as { index: number }).index === 0 ? "ok" : "fail"),
        fix: ["fail"],
      },
    );
    expect(run.job("sum").status).toBe("completed");
    expect(run.events("join.decided")[0]!.handled).toHaveLength(2);
    expect(run.run.status).toBe("completed");
  });

  it("the dependents of a routed failure stay blocked while the route may still lead somewhere", {
    tags: ["A22"],
  }, async () => {
    const stage = await Stage.begin(
      `steps: { a: { exec: "true" }, fix: { exec: "true" }, d: { exec: "true", depends_on: a } }
transitions: [{ from: a, to: fix, on: failure }]`,
      { a: ["fail"], fix: [{ output: null, takesMs: 50 }] },
    );
    expect(await stage.statuses("a", "fix", "d")).toEqual(["failed", "running", "blocked"]);
    await stage.rest();
    expect(await stage.statuses("a", "fix", "d")).toEqual(["failed", "completed", "skipped"]);
  });

  it("a goto back to the list ends the handlers in its items", { tags: ["A2"] }, async () => {
    const run = await trial(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list }
  fix: { exec: "{{ foreach.index }}" }
  probe: { exec: "true", on_fail: { retry: { max: 1 } } }
  sum: { exec: "true", depends_on: work, fanout: reduce, join: any, on_fail: { goto: list } }
transitions: [{ from: work, to: fix, on: failure }]`,
      {
        list: [{ output: ["a", "b"] }, { output: ["a"] }],
        work: ({ variables }, nth) =>
          (variables.foreach as { index: number }).index === 0 || nth > 1 ? "ok" : "fail",
        fix: [{ output: null, takesMs: 1000 }],
        sum: ["fail", "ok"],
      },
    );
    expect(run.run.status).toBe("completed");
    const started = run.events("attempt.started").length;
    const ended =
      run.events("attempt.succeeded").length +
      run.events("attempt.failed").length +
      run.events("attempt.stopped").length;
    expect(ended).toBe(started);
  });
});
