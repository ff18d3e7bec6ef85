import { describe, expect, it } from "vitest";
import { warningsOf } from "../../../test/support/workflow-text.js";
import {
  defineWorkflow,
  type FailureRuleInput,
  type StepInput,
  type TransitionInput,
  type WorkflowInput,
} from "../builder.js";
import { renderSegments } from "../read/path.js";
import { lintDefinition } from "./lint.js";
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

  it("finds `on_worker: same` where there is no choice of workers", () => {
    const again = { on_fail: { retry: { max: 1, on_worker: "same" as const } } };
    const child: StepInput = { type: "workflow", file: "child.yaml", ...again };
    expect(lint({ a: { type: "command", exec: "make", ...again } })).toEqual([]);
    expect(lint({ child })).toEqual(["NO_EFFECT steps.child.on_fail.retry.on_worker"]);
    const wide = { resource_requirements: { num_nodes: 2 } };
    expect(lint({ wide: { type: "command", exec: "make", ...wide, ...again } })).toEqual([
      "NO_EFFECT steps.wide.on_fail.retry.on_worker",
    ]);
    const here: StepInput = { type: "command", exec: "make", ...again };
    expect(lint({ here }, { workspace: { repo: "." } })).toEqual([
      "NO_EFFECT steps.here.on_fail.retry.on_worker",
    ]);
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

  it("finds handlers that no step uses and rules that can answer nothing", () => {
    const rules = [
      { exit_codes: [0, 3] },
      { exit_codes: [4], max_retries: 1, recovery_script: "x" },
      { exit_codes: [5], match_all_exit_codes: true },
    ];
    const used = { a: { exec: "x", failure_handler: "h" } };
    expect(
      lint(used, {
        failure_handlers: [
          { name: "h", rules },
          { name: "idle", rules: [{ exit_codes: 1 }] },
        ],
      }),
    ).toEqual([
      "NO_EFFECT failure_handlers[1]",
      "NO_EFFECT failure_handlers[0].rules[0].exit_codes",
      "NO_EFFECT failure_handlers[0].rules[1].recovery_script",
      "NO_EFFECT failure_handlers[0].rules[2].exit_codes",
    ]);
  });

  it("finds a handler on a step that gives none of its exit codes", () => {
    const handler = (rule: FailureRuleInput) => ({ failure_handlers: [{ name: "h", rules: [rule] }] });
    const step = { a: noop({ failure_handler: "h" }) };
    expect(lint(step, handler({ exit_codes: [3] }))).toEqual(["NO_EFFECT steps.a.failure_handler"]);
    expect(lint(step, handler({ exit_codes: [124] }))).toEqual([]);
    expect(lint(step, handler({ match_all_exit_codes: true }))).toEqual([]);
    expect(lint({ a: { exec: "x", failure_handler: "h" } }, handler({ exit_codes: [3] }))).toEqual([]);
  });

  it("finds factors of a scale that can raise nothing", () => {
    const handler = (rule: FailureRuleInput) => ({ failure_handlers: [{ name: "h", rules: [rule] }] });
    const step = (resource_requirements?: { memory?: string; runtime?: string }) => ({
      a: { exec: "x", failure_handler: "h", ...(resource_requirements && { resource_requirements }) },
    });
    const both = { memory: 1.5, runtime: 1.4 };
    expect(lint(step({ memory: "1g" }), handler({ exit_codes: [137], scale: both }))).toEqual([
      "NO_EFFECT failure_handlers[0].rules[0].scale.runtime",
    ]);
    expect(lint(step({ memory: "1g" }), handler({ match_all_exit_codes: true, scale: both }))).toEqual([
      "NO_EFFECT steps.a.failure_handler",
    ]);
    expect(lint(step(), handler({ exit_codes: [137], scale: { memory: 2 } }))).toEqual([
      "NO_EFFECT steps.a.failure_handler",
    ]);
    const asked = step({ memory: "1g", runtime: "1h" });
    expect(lint(asked, handler({ exit_codes: [137, 152], scale: both }))).toEqual([]);
  });

  it("finds transitions behind one that is always taken", () => {
    const steps = { a: noop(), b: noop(), c: noop(), r: noop() };
    const on = (first: TransitionInput["on"], second: TransitionInput["on"], when?: string) =>
      lint(steps, {
        transitions: [
          { from: "a", to: "b", on: second!, priority: 9 },
          { from: "a", to: "c", on: first!, priority: 2, ...(when === undefined ? {} : { when }) },
          { from: "r", to: "b" },
        ],
      });
    const never = ["NO_EFFECT transitions[0]"];
    expect(on("failure", "failure")).toEqual(never);
    expect(on("any", "success")).toEqual(never);
    expect(on("any", "any")).toEqual(never);
    expect(on("success", "any")).toEqual([]);
    expect(on("success", "failure")).toEqual([]);
    expect(on("failure", "failure", "x")).toEqual([]);
  });

  it("finds a hold that something always forestalls, where the file asks for it", () => {
    const handler = { failure_handlers: [{ name: "h", rules: [{ match_all_exit_codes: true }] }] };
    const one = { a: { exec: "x", failure_handler: "h" } };
    expect(lint(one, { ...handler, unhandled: "hold" })).toEqual(["NO_EFFECT unhandled"]);
    expect(lint({ ...one, b: { exec: "x" } }, { ...handler, unhandled: "hold" })).toEqual([]);
    const file =
      "failure_handlers: [{ name: h, rules: [{ match_all_exit_codes: true }] }]\njobs: [{ name: a, command: x, failure_handler: h }]";
    expect(warningsOf(file)).toEqual([]);
    expect(warningsOf(`unhandled: hold\n${file}`)).toEqual(["NO_EFFECT unhandled"]);
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

  it("counts what the rules of a handler add, once for all visits", () => {
    const failure_handlers = [
      {
        name: "h",
        rules: [
          { exit_codes: 1, max_retries: 5 },
          { exit_codes: 2, max_attempts: 3 },
        ],
      },
    ];
    const steps = {
      r: noop(),
      a: noop({ depends_on: "r", failure_handler: "h", on_fail: { goto: "r", retry: { max: 1 } } }),
    };
    expect(attempts(steps, { failure_handlers, routing: { max_loops: 2 } })).toEqual({ r: 3, a: 3 + 2 + 4 });
  });

  it("gives the target of a transition one visit, and more only where it can be led to again", () => {
    const steps = { a: noop(), b: noop(), c: noop(), after: noop({ depends_on: "c" }), other: noop() };
    const chain: TransitionInput[] = [
      { from: "a", to: "b", on: "failure" },
      { from: "b", to: "c", on: "failure" },
    ];
    const routing = { max_loops: 3 };
    expect(attempts(steps, { routing, transitions: chain })).toEqual({
      a: 1,
      b: 1,
      c: 1,
      after: 1,
      other: 1,
    });
    expect(attempts(steps, { routing, transitions: [...chain, { from: "other", to: "c" }] })).toEqual({
      a: 1,
      b: 1,
      c: 4,
      after: 4,
      other: 1,
    });
    const again = { ...steps, a: noop({ start: "auto" }) };
    expect(attempts(again, { routing, transitions: [...chain, { from: "c", to: "a" }] })).toEqual({
      a: 4,
      b: 4,
      c: 4,
      after: 4,
      other: 1,
    });
  });

  it("counts a routed step once for each visit of a step whose run_js may ask for it", () => {
    const steps = {
      a: noop(),
      b: noop({ depends_on: "a", on_fail: { run_js: "[]", goto: "a" } }),
      fix: noop({ start: "routed", on_fail: { retry: { max: 1 } } }),
    };
    expect(attempts(steps, { routing: { max_loops: 3 } })).toMatchObject({ b: 4, fix: 4 + 3 });
  });

  it("leaves open what run lists ask for that go round in a circle", () => {
    const fix = noop({ start: "routed", on_success: { run_js: "[]" } });
    expect(attempts({ a: noop({ on_fail: { run_js: "[]" } }), fix })).toEqual({ a: 2, fix: null });
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
    expect(result.per_item).toEqual([{ path: ["list"], attempts: 4 }]);
    expect(result.restarts_per_visit).toBe(5);
  });

  it("counts undo and finally steps, whose retries max_loops does not bound", () => {
    const retry = { retry: { max: 3 } };
    const steps = {
      book: noop({ undo: "back", on_fail: { retry: { max: 1 } } }),
      pay: noop({ depends_on: "book", undo: "back" }),
      each: noop({ depends_on: "pay", forEach: true }),
      item: noop({ depends_on: "each", undo: "drop" }),
      back: noop({ on_fail: retry }),
      drop: noop({}),
      tell: noop({ on_fail: retry }),
    };
    const result = worstCase(define(steps, { finally: ["tell"], routing: { max_loops: 1 } }));
    const numbers = result.steps.map(({ step, visits, attempts }) => `${step} ${visits} ${attempts}`);
    expect(numbers).toEqual([
      ...["book 1 2", "pay 1 1", "each 1 1", "item 1 1"],
      ...["back 2 8", "drop 1 1", "tell 1 4"],
    ]);
    expect(result.attempts).toBe(2 + 1 + 1 + 8 + 4);
    expect(result.per_item).toEqual([{ path: ["each"], attempts: 2 }]);
  });
});
