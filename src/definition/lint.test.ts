import { describe, expect, it } from "vitest";
import { defineWorkflow } from "./builder.js";
import { lintDefinition } from "./lint.js";
import { renderSegments } from "./path.js";
import type { StepInput, WorkflowInput } from "./workflow-input.js";
import { worstCase } from "./worst-case.js";

const noop = (keys: object = {}): StepInput => ({ type: "noop", ...keys });
const define = (steps: Record<string, StepInput>, more: Partial<WorkflowInput> = {}) =>
  defineWorkflow({ name: "x", ...more, steps });
const lint = (steps: Record<string, StepInput>, more: Partial<WorkflowInput> = {}) =>
  lintDefinition(define(steps, more)).map(({ code, segments }) => `${code} ${renderSegments(segments)}`);

describe("lint", () => {
  it("has nothing to say of a sound workflow", () => {
    expect(
      lint({
        a: noop({
          on_fail: { retry: { max: 2, on: ["TIMEOUT", "503", "EXIT_3", "transient_runtime"] }, run: "fix" },
        }),
        fix: noop(),
        b: noop({ depends_on: "a" }),
      }),
    ).toEqual([]);
  });

  it("finds a loop budget smaller than the transitions of one visit", () => {
    const step = (max: number) => ({
      r: noop(),
      a: noop({ depends_on: "r", on_fail: { retry: { max }, run: "f", goto: "r" } }),
      f: noop(),
    });
    expect(lint(step(8))).toEqual([]);
    expect(lint(step(9))).toEqual(["BUDGET_TOO_SMALL steps.a.on_fail"]);
    expect(lint(step(3), { routing: { max_loops: 4 } })).toEqual(["BUDGET_TOO_SMALL steps.a.on_fail"]);
  });

  it("finds steps nothing can reach, and those behind them, unless some run_js may name them", () => {
    const steps = {
      a: noop(),
      lost: noop({ start: "routed" }),
      behind: noop({ depends_on: ["a", "lost"] }),
      either: noop({ depends_on: "a|lost" }),
    };
    expect(lint(steps)).toEqual(["UNREACHABLE_STEP steps.lost", "UNREACHABLE_STEP steps.behind"]);
    expect(lint({ ...steps, a: noop({ on_success: { run_js: "[]" } }) })).toEqual([]);
  });

  it("finds secrets that are written in the file", () => {
    expect(lint({ a: noop({ env: { T: "x", U: "y" } }) }, { secrets: ["T"], env: { T: "x" } })).toEqual([
      "SECRET_IN_ENV env.T",
      "SECRET_IN_ENV steps.a.env.T",
    ]);
  });

  it("finds codes in retry.on that are never worth a retry or never given", () => {
    expect(
      lint({
        a: noop({ on_fail: { retry: { max: 1, on: [404, 503, "OUTPUT_INVALID", "TIMEOUT", "MY_CODE"] } } }),
      }),
    ).toEqual([
      "RETRY_OF_DETERMINISTIC steps.a.on_fail.retry.on[0]",
      "RETRY_OF_DETERMINISTIC steps.a.on_fail.retry.on[2]",
      "NO_EFFECT steps.a.on_fail.retry.on[4]",
    ]);
  });

  it("finds an idle timeout that the timeout always beats", () => {
    expect(lint({ a: noop({ timeout_ms: "1m", idle_timeout_ms: "60s" }) })).toEqual([
      "NO_EFFECT steps.a.idle_timeout_ms",
    ]);
  });
});

describe("worstCase", () => {
  const attempts = (steps: Record<string, StepInput>, more: Partial<WorkflowInput> = {}) =>
    Object.fromEntries(worstCase(define(steps, more)).steps.map((step) => [step.step, step.attempts]));

  it("counts the first try, retries and the try after a repair", () => {
    expect(
      attempts({
        a: noop({ on_fail: { retry: { max: 2 }, run: "fix" } }),
        fix: noop({ on_fail: { retry: { max: 1 } } }),
        b: noop({ depends_on: "a" }),
      }),
    ).toEqual({ a: 4, fix: 2, b: 1 });
  });

  it("never counts more retries than max_loops", () => {
    expect(attempts({ a: noop({ on_fail: { retry: { max: 50 } } }) }, { routing: { max_loops: 3 } })).toEqual(
      { a: 4 },
    );
  });

  it("gives every step that a goto sends back up to max_loops more visits, and leaves other branches alone", () => {
    const steps = {
      setup: noop(),
      build: noop({ depends_on: "setup", on_fail: { goto: "setup" } }),
      after: noop({ depends_on: "build" }),
      other: noop(),
    };
    expect(attempts(steps, { routing: { max_loops: 3 } })).toEqual({
      setup: 4,
      build: 4,
      after: 4,
      other: 1,
    });
  });

  it("takes a goto_js to reach any ancestor, but not beside them", () => {
    const steps = {
      r: noop(),
      a: noop({ depends_on: "r" }),
      b: noop({ depends_on: "a", on_fail: { goto_js: "x" } }),
      other: noop(),
    };
    expect(attempts(steps, { routing: { max_loops: 2 } })).toEqual({ r: 3, a: 3, b: 3, other: 1 });
  });

  it("counts a routed step once for each visit of those that name it", () => {
    const steps = {
      a: noop({ on_fail: { run: "fix" }, on_success: { run: "fix" } }),
      b: noop({ on_fail: { run: "fix" } }),
      fix: noop({ on_success: { run: "tell" } }),
      tell: noop(),
    };
    expect(attempts(steps)).toMatchObject({ fix: 3, tell: 3 });
  });

  it("leaves open what a run_js may ask for", () => {
    expect(attempts({ a: noop({ on_fail: { run_js: "[]" } }), fix: noop({ start: "routed" }) })).toEqual({
      a: 2,
      fix: null,
    });
  });

  it("sums up the run, and one item of each fan-out with the visits of its forEach step", () => {
    const steps = {
      list: noop({ forEach: true }),
      work: noop({ depends_on: "list", on_fail: { retry: { max: 2 } } }),
      sum: noop({ depends_on: "work", fanout: "reduce", on_fail: { goto: "list" } }),
    };
    const result = worstCase(define(steps, { routing: { max_loops: 1 } }));
    // list and sum may run twice; one item of work has at most two attempts in each of the two generations.
    expect(result.attempts).toBe(4);
    expect(result.perItem).toEqual([{ path: ["list"], attempts: 4 }]);
    expect(result.restartsPerVisit).toBe(5);
  });
});
