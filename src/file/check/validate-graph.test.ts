import { describe, expect, it } from "vitest";
import type { StepEntry } from "../fields/step-entries.js";
import { loadDefinition } from "../load.js";
import { Findings } from "../read/problem.js";
import { KnownNames } from "./references/check-names.js";
import { validateGraph } from "./validate-graph.js";

/** Steps in short: `id: "rest of its map"`. */
function problemsOf(steps: Record<string, string>) {
  const lines = Object.entries(steps).map(
    ([id, keys]) => `  ${id}: { type: noop${keys === "" ? "" : `, ${keys}`} }`,
  );
  const result = loadDefinition(`steps:\n${lines.join("\n")}\n`, {
    file: "x.yaml",
    checkExpression: () => null,
    checkTemplate: () => null,
  });
  return result.ok ? [] : result.problems;
}

const codesOf = (steps: Record<string, string>) =>
  problemsOf(steps).map(({ code, path }) => `${code} ${path}`);

describe("names of steps", () => {
  it("must exist, in depends_on, run and goto", () => {
    const steps = {
      build: "",
      test: "depends_on: [biuld, 'build|nobody'], on_fail: { run: [fixx], goto: bulid }, on_success: { run: [x-y-z] }",
      fix: "",
    };
    expect(problemsOf(steps).map((problem) => problem.message)).toEqual([
      "depends_on names the unknown step `biuld`, did you mean `build`?",
      "depends_on names the unknown step `nobody`",
      "on_fail.run names the unknown step `fixx`, did you mean `fix`?",
      "on_fail.goto names the unknown step `bulid`, did you mean `build`?",
      "on_success.run names the unknown step `x-y-z`",
    ]);
  });

  it("are never guessed to be the step's own", () => {
    expect(problemsOf({ build: "", builds: "depends_on: buildss" })).toMatchObject([
      { code: "UNKNOWN_STEP", message: "depends_on names the unknown step `buildss`" },
    ]);
  });

  it("must not be empty beside a bar", () => {
    expect(codesOf({ a: "", b: "depends_on: ['a|']" })).toEqual(["INVALID_VALUE steps.b.depends_on[0]"]);
  });
});

describe("circles", () => {
  it("are printed, each knot once, with what only follows them left alone", () => {
    const steps = {
      a: "depends_on: c",
      b: "depends_on: a",
      c: "depends_on: b",
      d: "depends_on: e",
      e: "depends_on: d",
      f: "depends_on: [c, d], on_fail: { goto: a }",
      g: "",
    };
    expect(problemsOf(steps).map((problem) => `${problem.code} ${problem.message}`)).toEqual([
      "CYCLE steps depend on each other in a circle: a -> c -> b -> a",
      "CYCLE steps depend on each other in a circle: d -> e -> d",
    ]);
  });

  it("of one step have their own message", () => {
    expect(problemsOf({ a: "depends_on: a", b: "" })).toMatchObject([
      { code: "CYCLE", message: "the step `a` depends on itself" },
    ]);
  });

  it("of on_success run lists never end and are refused; those that cost loop budget are not", () => {
    expect(
      problemsOf({ a: "on_success: { run: b }, start: auto", b: "on_success: { run: a }" }),
    ).toMatchObject([
      { code: "CYCLE", message: "steps run each other on success in a circle that never ends: a -> b -> a" },
    ]);
    expect(problemsOf({ a: "on_fail: { run: b }, start: auto", b: "on_success: { run: a }" })).toEqual([]);
  });

  it("may be thousands of steps long", () => {
    const steps: Record<string, string> = {};
    for (let i = 0; i < 3_000; i++) steps[`s${i}`] = `depends_on: s${(i + 1) % 3_000}`;
    const [problem] = problemsOf(steps);
    expect(problem).toMatchObject({ code: "CYCLE" });
    expect(problem!.message.length).toBeLessThan(300);
  });
});

describe("goto", () => {
  it("may name an ancestor, near or far, through an or-group too", () => {
    expect(
      codesOf({
        a: "",
        b: "depends_on: a",
        x: "",
        c: "depends_on: ['x|b'], on_fail: { goto: a }, on_success: { goto: x }",
      }),
    ).toEqual([]);
  });

  it("must not name another branch; the hint says which depends_on to add", () => {
    expect(problemsOf({ a: "", b: "on_fail: { goto: a }" })).toMatchObject([
      {
        code: "GOTO_NOT_ANCESTOR",
        path: "steps.b.on_fail.goto",
        hint: "Add `a` to the depends_on of `b`, or of a step it depends on.",
      },
    ]);
  });

  it("must not name the step itself or a descendant", () => {
    const problems = problemsOf({ a: "on_fail: { goto: b }", b: "depends_on: a, on_success: { goto: b }" });
    expect(problems.map((problem) => `${problem.code} ${problem.hint}`)).toEqual([
      "GOTO_NOT_ANCESTOR `b` depends on `a`: a goto only jumps back.",
      "GOTO_NOT_ANCESTOR Use `on_fail.retry` to run the same step again.",
    ]);
  });

  it("is not blamed when a misspelt key hides the dependency", () => {
    expect(codesOf({ a: "", b: "dependson: a, on_fail: { goto: a }" })).toEqual([
      "UNKNOWN_KEY steps.b.dependson",
    ]);
    expect(codesOf({ a: "", b: "depends_on: aa, on_fail: { goto: a }" })).toEqual([
      "UNKNOWN_STEP steps.b.depends_on",
    ]);
  });

  it("stays within its forEach scope", () => {
    const steps = {
      list: "forEach: true",
      work: "depends_on: list, on_fail: { goto: list }",
      more: "depends_on: work, on_fail: { goto: work }",
      sum: "depends_on: more, fanout: reduce, on_fail: { goto: list }",
      end: "depends_on: sum, on_fail: { goto: more }",
    };
    expect(codesOf(steps)).toEqual([
      "CROSS_SCOPE steps.work.on_fail.goto",
      "CROSS_SCOPE steps.end.on_fail.goto",
    ]);
  });
});

describe("run lists", () => {
  it("must not name the step itself or its descendants", () => {
    expect(
      codesOf({
        a: "on_fail: { run: [a] }, start: auto",
        b: "on_fail: { run: [d] }",
        c: "depends_on: b",
        d: "depends_on: c",
      }),
    ).toEqual(
      ["RUN_TARGET steps.a.on_fail.run", "RUN_TARGET steps.b.on_fail.run"].map((text) => `${text}[0]`),
    );
  });

  it("may name an ancestor", () => {
    expect(codesOf({ a: "", b: "depends_on: a, on_fail: { run: [c] }", c: "depends_on: a" })).toEqual([]);
  });

  it("may name a routed step from any scope, others only within their own", () => {
    const steps = {
      list: "forEach: true",
      work: "depends_on: list, on_fail: { run: [fix, peer, auto, far] }",
      fix: "",
      peer: "depends_on: list",
      auto: "start: auto",
      root: "",
      far: "depends_on: root",
    };
    expect(codesOf(steps)).toEqual([
      "CROSS_SCOPE steps.work.on_fail.run[2]",
      "CROSS_SCOPE steps.work.on_fail.run[3]",
    ]);
  });
});

describe("fan-out", () => {
  it("is refused where it cannot work", () => {
    const steps = {
      a: "forEach: true",
      b: "forEach: true",
      c: "depends_on: [a, b]",
      d: "fanout: reduce",
      e: "join: any",
      f: "depends_on: a, fanout: reduce, join: any",
    };
    expect(codesOf(steps)).toEqual([
      "FAN_OUT steps.c.depends_on",
      "FAN_OUT steps.d.fanout",
      "FAN_OUT steps.e.join",
    ]);
  });
});

describe("a start", () => {
  it("is needed: a step without depends_on that nothing routes to", () => {
    expect(problemsOf({ a: "start: routed", b: "depends_on: a" })).toMatchObject([
      { code: "NO_START", line: 1, column: 1 },
    ]);
    expect(problemsOf({})).toMatchObject([{ code: "WRONG_TYPE" }]);
    expect(codesOf({ a: "start: routed", b: "depends_on: a", c: "" })).toEqual([]);
  });
});

describe("the cost", () => {
  /** A chain in which every step has a goto; `far` makes each target differ and no spanning tree of help. */
  function workFor(size: number, far: boolean): number {
    const entries = Array.from({ length: size }, (_, index): StepEntry => {
      const located = (value: string) => ({ value, at: 0, path: null });
      const names =
        index === 0 ? [] : far ? [`s${index - 1}`, `s${Math.floor(index / 2)}`] : [`s${index - 1}`];
      const keys = {
        depends_on: names.map(located),
        on_fail: index === 0 ? undefined : { goto: located(`s${Math.floor(index / 3)}`) },
      };
      return {
        id: `s${index}`,
        at: index,
        path: null,
        unsure: false,
        raw: { keys, action: { type: "noop" }, node: null, path: null } as never,
      };
    });
    const findings = new Findings();
    const none = new Set<string>();
    const known = new KnownNames(
      { steps: none, inputs: none, plainInputs: none, env: none, context: none },
      new Map(),
    );
    const work = validateGraph(
      { entries, stepsAt: 0, routed: new Set(), transitions: [], finally: [], texts: [], known },
      findings,
    );
    expect(findings.errors).toEqual([]);
    return work;
  }

  it.each([false, true])("of a chain full of gotos doubles when the chain doubles (shortcuts: %s)", (far) => {
    const ratio = workFor(20_000, far) / workFor(10_000, far);
    expect(ratio).toBeGreaterThan(1.9);
    expect(ratio).toBeLessThan(2.1);
  });
});
