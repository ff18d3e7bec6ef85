import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, warningsOf } from "../../../test/support/workflow-text.js";
import type { Routing } from "../../core/model/definition.js";
import {
  defineWorkflow,
  type RoutingInput,
  type StepInput,
  type TransitionInput,
  type WorkflowInput,
} from "../builder.js";
import { draw } from "../draw/drawing.js";
import { lintDefinition } from "../lint/lint.js";
import { worstCase } from "../lint/worst-case.js";
import { renderSegments } from "../read/path.js";

const noop = (keys: object = {}): StepInput => ({ type: "noop", ...keys });

/** `setup`, then `test` with this routing, and what else is given. */
function define(
  routing: { on_fail?: NonNullable<StepInput["on_fail"]>; on_success?: RoutingInput },
  more: Partial<WorkflowInput> = {},
  steps: { [id: string]: StepInput } = {},
) {
  const given = { setup: noop(), test: noop({ depends_on: "setup", ...routing }), ...steps };
  return defineWorkflow({ name: "x", ...more, steps: given });
}

describe("a goto with a bound", () => {
  const file = (on: string) =>
    `steps:\n  setup: { exec: x }\n  test: { exec: x, depends_on: setup, ${on} }\n`;
  const routingOf = (on: string, outcome: "onFail" | "onSuccess" = "onFail"): Partial<Routing> => {
    const { goto, gotoJs, gotoMax } = definitionOf(file(on)).steps[1]![outcome];
    return { goto, gotoJs, gotoMax };
  };

  it.each([
    ["on_fail: { goto: setup }", { goto: "setup", gotoJs: null, gotoMax: null }],
    ["on_fail: { goto: { step: setup } }", { goto: "setup", gotoJs: null, gotoMax: null }],
    ["on_fail: { goto: { step: setup, max: 1 } }", { goto: "setup", gotoJs: null, gotoMax: 1 }],
    ["on_fail: { goto: setup, goto_max: 2 }", { goto: "setup", gotoJs: null, gotoMax: 2 }],
    ["on_fail: { goto: { step: setup }, goto_max: 2 }", { goto: "setup", gotoJs: null, gotoMax: 2 }],
    ["on_fail: { goto_js: x, goto_max: 0 }", { goto: null, gotoJs: "x", gotoMax: 0 }],
    ["on_fail: { goto: { step: setup, max: 1 }, goto_js: x }", { goto: "setup", gotoJs: "x", gotoMax: 1 }],
  ])("is read from %s", (on, expected) => {
    expect(routingOf(on)).toEqual(expected);
    expect(routingOf(on.replace("on_fail", "on_success"), "onSuccess")).toEqual(expected);
  });

  it("is read from JSON and from the builder alike", () => {
    const steps = {
      setup: { exec: "x" },
      test: { exec: "x", depends_on: "setup", on_fail: { goto: { step: "setup", max: 1 } } },
    };
    const built = defineWorkflow({ name: "x", steps });
    expect(definitionOf(JSON.stringify({ name: "x", steps }))).toEqual(built);
    expect(built.steps[1]!.onFail).toMatchObject({ goto: "setup", gotoMax: 1 });
  });

  it.each([
    ["goto: { step: setup, max: 1 }, goto_max: 1", "INVALID_VALUE", "steps.test.on_fail"],
    ["goto: { max: 1 }", "MISSING_KEY", "steps.test.on_fail.goto"],
    ["goto: { step: setup, times: 1 }", "UNKNOWN_KEY", "steps.test.on_fail.goto.times"],
    ["goto: { step: setup, max: -1 }", "INVALID_VALUE", "steps.test.on_fail.goto.max"],
    ["goto: setup, goto_max: 1.5", "INVALID_VALUE", "steps.test.on_fail.goto_max"],
    ["goto: { step: setpu, max: 1 }", "UNKNOWN_STEP", "steps.test.on_fail.goto.step"],
    ["goto: { step: test, max: 1 }", "GOTO_NOT_ANCESTOR", "steps.test.on_fail.goto.step"],
  ])("is refused: on_fail: { %s }", (on, code, path) => {
    expect(problemsOf(file(`on_fail: { ${on} }`))).toMatchObject([{ code, path, line: 3 }]);
  });

  it("is drawn with its arrow", () => {
    const labels = draw(
      define({ on_fail: { goto: "setup", goto_max: 2 }, on_success: { goto_js: "x", goto_max: 1 } }),
    );
    expect(labels.edges.at(-1)).toMatchObject({ from: "n1", to: "n0", label: "on fail: goto, max 2" });
    expect(labels.nodes[1]!.label).toBe("test\non success: goto_js, max 1");
  });

  it("is reported where it bounds nothing", () => {
    const found = lintDefinition(define({ on_success: { goto_max: 1 } }));
    expect(found).toMatchObject([
      { code: "NO_EFFECT", segments: ["steps", "test", "on_success", "goto_max"] },
    ]);
  });
});

describe("UNREACHABLE_RUNG", () => {
  const FALLBACK = { fallback: noop() };
  const edge = (more: Partial<TransitionInput> = {}): Partial<WorkflowInput> => ({
    transitions: [{ from: "test", to: "fallback", on: "failure", ...more }],
  });
  const hiddenBy = (on_fail: RoutingInput, more: Partial<WorkflowInput>, steps = {}) =>
    lintDefinition(define({ on_fail }, more, steps)).map(
      ({ code, message, segments }) =>
        `${code} ${renderSegments(segments)} ${/rung (\w+)/.exec(message)?.[1]}`,
    );
  const hidden = (rung: string) => `UNREACHABLE_RUNG steps.test.on_fail.goto ${rung}`;

  it("says which rung is hidden by what, and how to reach it", () => {
    const [found, ...others] = lintDefinition(define({ on_fail: { goto: "setup" } }, edge(), FALLBACK));
    expect(others).toEqual([]);
    expect(found).toEqual({
      code: "UNREACHABLE_RUNG",
      message:
        "no failure of `test` reaches the rung edge (transition 1 to `fallback`): its goto to `setup` goes back every time, until max_loops",
      hint: "Bound it: `goto: { step: setup, max: 1 }`.",
      segments: ["steps", "test", "on_fail", "goto"],
    });
  });

  it("stands at the goto in the file", () => {
    const file =
      "unhandled: hold\nsteps:\n  setup: { exec: x }\n  test:\n    exec: x\n    depends_on: setup\n    on_fail:\n      goto: setup\n";
    expect(warningsOf(file)).toEqual(["UNREACHABLE_RUNG steps.test.on_fail.goto"]);
  });

  it("is given once for each rung that the goto hides", () => {
    const all = { ...edge({ when: "x" }), queue: {}, unhandled: "hold" as const };
    expect(hiddenBy({ goto: "setup" }, all, FALLBACK)).toEqual(["edge", "requeue", "hold"].map(hidden));
    expect(hiddenBy({ goto: "setup", goto_js: "x" }, all, FALLBACK)).toEqual(
      ["edge", "requeue", "hold"].map(hidden),
    );
    expect(hiddenBy({ goto: "setup" }, { unhandled: "hold" })).toEqual([hidden("hold")]);
    expect(hiddenBy({ goto: "setup" }, { queue: {} })).toEqual([hidden("requeue")]);
    expect(hiddenBy({ goto: "setup" }, edge({ on: "any" }), FALLBACK)).toEqual([hidden("edge")]);
  });

  it.each<[string, RoutingInput]>([
    ["a bound", { goto: { step: "setup", max: 3 } }],
    ["a bound of both", { goto: "setup", goto_js: "x", goto_max: 3 }],
    ["a goto_js alone, which may give null", { goto_js: "x" }],
    ["no goto", {}],
  ])("is not given with %s", (_, on_fail) => {
    expect(hiddenBy(on_fail, { ...edge({ when: "x" }), queue: {}, unhandled: "hold" }, FALLBACK)).toEqual([]);
  });

  it("is not given for what a bound would not bring to light either", () => {
    const all = { queue: {}, unhandled: "hold" as const };
    expect(hiddenBy({ goto: "setup" }, { ...edge(), ...all }, FALLBACK)).toEqual([hidden("edge")]);
    const handler = { failure_handlers: [{ name: "h", rules: [{ match_all_exit_codes: true }] }] };
    const handled = { test: noop({ depends_on: "setup", failure_handler: "h", on_fail: { goto: "setup" } }) };
    expect(hiddenBy({}, { ...handler, unhandled: "hold" }, handled)).toEqual([]);
    const tolerated = {
      test: noop({ depends_on: "setup", continue_on_failure: true, on_fail: { goto: "setup" } }),
    };
    expect(hiddenBy({}, { unhandled: "hold" }, tolerated)).toEqual([]);
    const second: TransitionInput = { from: "test", to: "spare", on: "failure" };
    const two = { transitions: [...edge().transitions!, second] };
    expect(hiddenBy({ goto: "setup" }, two, { ...FALLBACK, spare: noop() })).toEqual([
      "NO_EFFECT transitions[1] undefined",
      hidden("edge"),
    ]);
  });

  it("is not given for a step that a success may also lead to, which then climbs past the goto", () => {
    const led = { other: noop({ depends_on: "setup", on_success: { run: "test" } }) };
    expect(hiddenBy({ goto: "setup" }, { unhandled: "hold" }, led)).toEqual([]);
    const ledByCode = { other: noop({ depends_on: "setup", on_success: { run_js: "x" } }) };
    expect(hiddenBy({ goto: "setup" }, { unhandled: "hold" }, ledByCode)).toEqual([]);
    const repaired = { other: noop({ depends_on: "setup", on_fail: { run_js: "x" } }) };
    expect(hiddenBy({ goto: "setup" }, { unhandled: "hold" }, repaired)).toEqual([hidden("hold")]);
  });
});

describe("budgets of a bounded goto", () => {
  const small = (retries: number, max: number, max_loops: number, run = ["fix"]) =>
    lintDefinition(
      define(
        { on_fail: { retry: { max: retries }, run, goto: "setup", goto_max: max } },
        { routing: { max_loops } },
        { fix: noop({ start: "routed" }) },
      ),
    ).filter(({ code }) => code === "BUDGET_TOO_SMALL");

  it("are compared with the transitions of all its visits", () => {
    // Three visits with 2 retries each and a repair each, and two gotos; the last repair comes after the last retry.
    expect(small(2, 2, 10)).toEqual([]);
    expect(small(2, 2, 9)).toMatchObject([
      {
        message:
          "3 visits of `test` may need 10 transitions (6 retries, 3 repairs, 2 gotos), but max_loops is 9",
      },
    ]);
    expect(small(0, 2, 5)).toEqual([]);
    expect(small(0, 2, 4)).toHaveLength(1);
  });
});

describe("repairs with a bound", () => {
  const FIX = { fix: noop({ start: "routed" }) };
  const repaired = (max: number, max_loops: number) =>
    define({ on_fail: { run: { steps: ["fix"], max } } }, { routing: { max_loops } }, FIX);

  it("are read from either spelling, and left out where there is none", () => {
    const runMax = (on_fail: object) => define({ on_fail }, {}, FIX).steps[1]!.onFail.runMax;
    expect(runMax({ run: { steps: "fix", max: 2 } })).toBe(2);
    expect(runMax({ run: "fix", run_max: 2 })).toBe(2);
    expect(runMax({ run: "fix" })).toBeUndefined();
  });

  it("are drawn with their arrow, and reported where they bound nothing", () => {
    expect(draw(repaired(3, 10)).edges.at(-1)).toMatchObject({ from: "n1", label: "on fail: run, max 3" });
    expect(lintDefinition(define({ on_fail: { run_max: 1 } }))).toMatchObject([
      { code: "NO_EFFECT", segments: ["steps", "test", "on_fail", "run_max"] },
    ]);
  });

  it("are counted in the worst case, up to max_loops", () => {
    const attempts = (max: number, max_loops: number) =>
      worstCase(repaired(max, max_loops)).steps.map((step) => step.attempts);
    expect(attempts(3, 10)).toEqual([1, 4, 3]);
    expect(attempts(9, 2)).toEqual([1, 3, 3]);
    expect(lintDefinition(repaired(3, 2))).toMatchObject([
      { message: "one visit of `test` may need 3 transitions (3 repairs), but max_loops is 2" },
    ]);
  });
});

describe("worstCase with a bounded goto", () => {
  const attempts = (definition: ReturnType<typeof define>) =>
    Object.fromEntries(worstCase(definition).steps.map((step) => [step.step, step.attempts]));

  it("gives the steps that it sends back so many visits more, and the target of a transition no more than its source", () => {
    const ladder = define(
      { on_fail: { retry: { max: 2 }, run: "fix", goto: { step: "setup", max: 1 } } },
      { transitions: [{ from: "test", to: "fallback", on: "failure" }] },
      { fix: noop(), after: noop({ depends_on: "test" }), fallback: noop(), other: noop() },
    );
    // Two visits of test: the first try, two retries and one more try after the repair in each.
    expect(attempts(ladder)).toEqual({ setup: 2, test: 8, fix: 2, after: 2, fallback: 2, other: 1 });
  });

  it("counts nothing for a step to which only failures lead that a goto without bound sends back", () => {
    const routes = (on: "failure" | "any") =>
      define(
        { on_fail: { goto: "setup" } },
        { transitions: [{ from: "test", to: "fallback", on }] },
        { fallback: noop() },
      );
    expect(attempts(routes("failure"))).toEqual({ setup: 11, test: 11, fallback: 0 });
    expect(attempts(routes("any"))).toEqual({ setup: 11, test: 11, fallback: 11 });
  });

  it("adds the bounds of all gotos of a scope, up to max_loops", () => {
    const two = (max: number, max_loops: number) =>
      define(
        { on_fail: { goto: { step: "setup", max } }, on_success: { goto_js: "x", goto_max: 2 } },
        { routing: { max_loops } },
      );
    expect(attempts(two(3, 10))).toEqual({ setup: 6, test: 6 });
    expect(attempts(two(3, 4))).toEqual({ setup: 5, test: 5 });
  });

  it("is at most max_loops where one of the gotos has no bound, or a target is sent back as well", () => {
    const open = define({ on_fail: { goto: { step: "setup", max: 1 } }, on_success: { goto_js: "x" } });
    expect(attempts(open)).toEqual({ setup: 11, test: 11 });
    const behind = { late: noop({ depends_on: "setup", start: "routed" }) };
    const both = define(
      { on_fail: { goto: { step: "setup", max: 1 } } },
      { transitions: [{ from: "test", to: "late", on: "failure" }] },
      behind,
    );
    expect(attempts(both)).toEqual({ setup: 2, test: 2, late: 11 });
  });
});
