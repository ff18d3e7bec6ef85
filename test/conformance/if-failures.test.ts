import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

/** `b` has an `if` that cannot be evaluated before `fix` has an output. */
const flow = (b: string, more = "") => `${more}
steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, if: "outputs.fix.ready", ${b} }
  c: { exec: make, depends_on: b }
  fix: { exec: make, start: routed }`;

const READY = { fix: [{ output: { ready: true } }] } as const;

describe("an if that cannot be evaluated", () => {
  it("climbs as a failure without an attempt: the failure edge takes it on, and it is handled", async () => {
    const run = await trial(`${flow("timeout_ms: 9")}\ntransitions: [{ from: b, to: fix, on: failure }]`);
    expect(trace(run)).toEqual([
      "start a",
      "ok a",
      "evaluated b if: EXPRESSION_THREW",
      "if failed b",
      "climb b edge",
      "failed b IF_FAILED",
      "edge 1 b -> fix on failure",
      "start fix",
      "ok fix",
      "settled handled [b] unhandled []",
      "skipped c",
      "run completed",
    ]);
    expect(run.job("b")).toMatchObject({ status: "failed", handled: true, attempt_id: 0, visit: 1 });
    expect(run.events("if.failed")).toMatchObject([
      {
        error: {
          code: "IF_FAILED",
          class: "deterministic_contract",
          retryable: false,
          attempt: null,
          step_id: "b",
          message: expect.stringMatching(/^if: .*ready/),
        },
      },
    ]);
    expect(run.events("ladder.climbed")).toMatchObject([
      { attempt: 0, recovery: "NoHandler", failure_route: { attempted: true, status: "selected" } },
    ]);
    expect(run.events("edge.taken")).toMatchObject([{ attempt: 0 }]);
  });

  it("passes rule and retry, which repeat attempts, whatever they name; and fails where nothing else answers", async () => {
    const run = await trial(
      flow(
        "failure_handler: all, on_fail: { retry: { max: 3, on: [IF_FAILED] } }",
        "failure_handlers: [{ name: all, rules: [{ match_all_exit_codes: true }] }]",
      ),
    );
    expect(trace(run)).toEqual([
      "start a",
      "ok a",
      "evaluated b if: EXPRESSION_THREW",
      "if failed b",
      "climb b fail",
      "failed b IF_FAILED",
      "canceled c DEPENDENCY_FAILED",
      "skipped fix",
      "run failed IF_FAILED",
    ]);
    const { considered, recovery } = run.events("ladder.climbed")[0]!;
    const reasons = Object.fromEntries(considered.map(({ rung, reason }) => [rung, reason]));
    expect(reasons).toMatchObject({
      rule: "there is no attempt to repeat",
      retry: "there is no attempt to repeat",
    });
    expect(recovery).toBe("NoMatchingRule");
  });

  it("is evaluated again after a repair, and then the step runs its first attempt", async () => {
    const run = await trial(flow("on_fail: { run: [fix] }"), READY);
    expect(trace(run)).toEqual([
      "start a",
      "ok a",
      "evaluated b if: EXPRESSION_THREW",
      "if failed b",
      "climb b remediate",
      "remediate b by fix",
      "start fix",
      "ok fix",
      "remediated b",
      "evaluated b if: true",
      "start b",
      "ok b",
      "start c",
      "ok c",
      "run completed",
    ]);
    expect(run.job("b")).toMatchObject({ status: "completed", attempt_id: 1, visit: 1, error: null });
    expect(run.events("attempt.started").find(({ job }) => job === run.job("b").id)).toMatchObject({
      attempt: 1,
      visit: 1,
    });
  });

  it("is repaired once a visit: where it fails again the climb goes on above", async () => {
    const run = await trial(flow("on_fail: { run: [fix] }", "unhandled: hold"));
    expect(trace(run).slice(2)).toEqual([
      "evaluated b if: EXPRESSION_THREW",
      "if failed b",
      "climb b remediate",
      "remediate b by fix",
      "start fix",
      "ok fix",
      "remediated b",
      "evaluated b if: EXPRESSION_THREW",
      "if failed b",
      "climb b hold",
      "held b IF_FAILED",
      "run held",
    ]);
  });

  it("may turn out false after the repair: the step is skipped, and nothing of its failure is left", async () => {
    const run = await trial(flow("on_fail: { run: [fix] }"), { fix: [{ output: { ready: false } }] });
    expect(run.order).toEqual(["a", "fix"]);
    expect(run.job("b")).toMatchObject({ status: "skipped", error: null });
    expect(run.job("c").status).toBe("skipped");
    expect(run.run.status).toBe("completed");
  });

  it("goes back by goto: a new visit, and the if is decided anew", async () => {
    const text = `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, if: "outputs.a.ready", on_fail: { goto: a } }`;
    const run = await trial(text, { a: ["ok", { output: { ready: true } }] });
    expect(trace(run)).toEqual([
      "start a",
      "ok a",
      "evaluated b if: EXPRESSION_THREW",
      "if failed b",
      "climb b goto",
      "goto b -> a after failure, loop 1",
      "again a b",
      "start a",
      "ok a",
      "evaluated b if: true",
      "start b",
      "ok b",
      "run completed",
    ]);
    expect(run.job("b")).toMatchObject({ attempt_id: 1, visit: 2 });
  });

  it("spends the loop budget as any failure does, and ends there", async () => {
    const text = `routing: { max_loops: 2 }
steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, if: "nothing.here", on_fail: { goto: a } }`;
    const run = await trial(text);
    expect(run.order).toEqual(["a", "a", "a"]);
    expect(run.run).toMatchObject({ status: "failed", error: { code: "LOOP_BUDGET_EXCEEDED" } });
    expect(run.job("b")).toMatchObject({ status: "failed", attempt_id: 0, visit: 3 });
    expect(run.events("ladder.climbed").at(-1)).toMatchObject({
      attempt: 0,
      rung: "fail",
      failure_route: { attempted: false, status: "no_route", considered: [] },
    });
  });

  it("with continue_on_failure fails the step, and its dependents go on without its output", async () => {
    const run = await trial(flow("continue_on_failure: true"));
    expect(run.order).toEqual(["a", "c"]);
    expect(run.job("b")).toMatchObject({ status: "failed", handled: true, error: { code: "IF_FAILED" } });
    expect(run.run.status).toBe("completed");
  });

  it("of a repair step is a failure of the repair", async () => {
    const run = await trial(
      `steps:
  a: { exec: make, on_fail: { run: [fix], goto_js: "return null" } }
  fix: { exec: make, if: "nothing.here", on_fail: { run: [other] } }
  other: { exec: make, start: routed }`,
      { a: ["fail"] },
    );
    expect(run.order).toEqual(["a"]);
    expect(run.job("a")).toMatchObject({ status: "failed", error: { code: "REMEDIATION_FAILED" } });
    expect(run.job("fix")).toMatchObject({ status: "failed", error: { code: "IF_FAILED" } });
  });

  it("is asked again by an operator's retry of the hold, in a new visit", async () => {
    const stage = await Stage.begin(
      flow("timeout_ms: 9", "unhandled: hold").replace("outputs.fix.ready", "visit > 1 || nothing.here"),
    );
    expect((await stage.rest()).run.status).toBe("held");
    const items = [{ job: await stage.id("b"), action: "retry" as const, output: null, items: null }];
    expect(await stage.operate({ type: "holds.resolve", items })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "b", "c"]);
    expect(run.job("b")).toMatchObject({ status: "completed", attempt_id: 1, visit: 2 });
    expect(run.run.status).toBe("completed");
  });

  it("in a visit after others is a failure of its own, not of their last attempt", async () => {
    const text = `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, if: "visit === 1 || nothing.here", on_fail: { goto_js: "return visit === 1 ? 'a' : null" } }
  fix: { exec: make }
transitions: [{ from: b, to: fix, on: failure }]`;
    const run = await trial(text, { b: ["fail"] });
    expect(run.order).toEqual(["a", "b", "a", "fix"]);
    expect(run.events("ladder.climbed").map(({ attempt, rung }) => [attempt, rung])).toEqual([
      [1, "goto"],
      [0, "edge"],
    ]);
    expect(run.job("b")).toMatchObject({ attempt_id: 1, visit: 2, handled: true });
  });
});
