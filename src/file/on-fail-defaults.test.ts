import { describe, expect, it } from "vitest";
import {
  definitionOf,
  fullWarningsOf,
  problemsOf,
  REAL_CHECKS,
  summaryOf,
  warningsOf,
} from "../../test/support/workflow-text.js";
import type { FailureRouting } from "../core/model/definition.js";
import { defineWorkflow } from "./builder.js";
import { draw } from "./draw/drawing.js";
import { workflowJsonSchema } from "./json-schema.js";

const file = (defaults: string, steps: string, more = ""): string =>
  `${more}routing: { defaults: { on_fail: ${defaults} } }\nsteps:\n${steps
    .split("\n")
    .map((line) => `  ${line.trim()}`)
    .join("\n")}\n`;

/** The routing of each step, without what is off. */
function routingsOf(text: string): { [step: string]: Partial<FailureRouting> } {
  const isSet = ([, value]: [string, unknown]) =>
    value !== null && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(
    definitionOf(text).steps.map(({ id, onFail }) => [
      id,
      Object.fromEntries(Object.entries(onFail).filter(isSet)),
    ]),
  );
}

const CHAIN = `setup: { exec: x }
build: { exec: x, depends_on: setup }
test: { exec: x, depends_on: build }`;

describe("routing.defaults.on_fail", () => {
  it("gives every key to a step that has none of them", () => {
    const defaults =
      "{ retry: { max: 1 }, run: fix, run_js: r, run_max: 3, goto: setup, goto_js: g, goto_max: 2 }";
    const found = routingsOf(file(defaults, `${CHAIN}\nfix: { exec: x }`));
    const retry = { max: 1, backoff: { mode: "none", delayMs: 0, maxDelayMs: null, jitter: 0 }, on: [] };
    const all = { retry, run: ["fix"], runJs: "r", runMax: 3, goto: "setup", gotoJs: "g", gotoMax: 2 };
    expect(found.build).toEqual(all);
    expect(found.test).toEqual(all);
  });

  it.each([
    ["run: [other]", { run: ["other"], runJs: "r", goto: "setup", gotoJs: "g", gotoMax: 2 }],
    ["run: []", { runJs: "r", goto: "setup", gotoJs: "g", gotoMax: 2 }],
    ["run_js: own", { run: ["fix"], runJs: "own", goto: "setup", gotoJs: "g", gotoMax: 2 }],
    ["goto: build", { run: ["fix"], runJs: "r", goto: "build", gotoJs: "g", gotoMax: 2 }],
    ["goto_js: own", { run: ["fix"], runJs: "r", goto: "setup", gotoJs: "own", gotoMax: 2 }],
    ["goto_max: 0", { run: ["fix"], runJs: "r", goto: "setup", gotoJs: "g", gotoMax: 0 }],
  ])("leaves a step its own %s and gives it the others", (own, expected) => {
    const steps = `setup: { exec: x }
build: { exec: x, depends_on: setup }
test: { exec: x, depends_on: build, on_fail: { ${own} } }
fix: { exec: x }
other: { exec: x, start: routed }`;
    const defaults = "{ run: fix, run_js: r, goto: setup, goto_js: g, goto_max: 2 }";
    expect(routingsOf(file(defaults, steps)).test).toEqual(expected);
  });

  it("takes the bound along with a default `goto`, and loses it with that", () => {
    const steps = `${CHAIN}\nlast: { exec: x, depends_on: test, on_fail: { goto: build } }`;
    const found = routingsOf(file("{ goto: { step: setup, max: 1 } }", steps));
    expect(found).toEqual({
      setup: {},
      build: { goto: "setup", gotoMax: 1 },
      test: { goto: "setup", gotoMax: 1 },
      last: { goto: "build" },
    });
  });

  it("gives a bound only to steps that have a goto", () => {
    const steps = `${CHAIN}\nlast: { exec: x, depends_on: test, on_fail: { goto: build } }`;
    const found = routingsOf(file("{ goto_max: 3 }", steps));
    expect(found).toEqual({ setup: {}, build: {}, test: {}, last: { goto: "build", gotoMax: 3 } });
  });

  it("leaves a goto out where its target is the step itself, no ancestor, or in another scope", () => {
    const steps = `setup: { exec: x }
list: { exec: x, depends_on: setup, forEach: true }
item: { exec: x, depends_on: list }
sum: { exec: x, depends_on: item, fanout: reduce }
aside: { exec: x }`;
    expect(routingsOf(file("{ goto: setup, goto_max: 1 }", steps))).toEqual({
      setup: {},
      list: { goto: "setup", gotoMax: 1 },
      item: {},
      sum: { goto: "setup", gotoMax: 1 },
      aside: {},
    });
  });

  it("leaves goto_js out where a step depends on nothing", () => {
    expect(routingsOf(file("{ goto_js: g }", CHAIN))).toEqual({
      setup: {},
      build: { gotoJs: "g" },
      test: { gotoJs: "g" },
    });
  });

  it("leaves the whole run list out for its own steps and for what they depend on", () => {
    const steps = `${CHAIN}\nfix: { exec: x }\nclean: { exec: x, depends_on: setup, start: routed }`;
    expect(routingsOf(file("{ run: [fix, clean] }", steps))).toEqual({
      setup: {},
      build: { run: ["fix", "clean"] },
      test: { run: ["fix", "clean"] },
      fix: {},
      clean: {},
    });
  });

  it("leaves a run list out where it would leave the scope; a routed step is in every scope", () => {
    const steps = `list: { exec: x, forEach: true }
item: { exec: x, depends_on: list }
other: { exec: x, depends_on: setup }
setup: { exec: x }`;
    expect(routingsOf(file("{ run: other }", steps))).toEqual({
      list: { run: ["other"] },
      item: {},
      other: {},
      setup: {},
    });
    const routed = `${steps}\nfix: { exec: x }`;
    expect(routingsOf(file("{ run: fix }", routed)).item).toEqual({ run: ["fix"] });
  });

  it("makes the steps of its run list routed, and where every step has a list of its own nothing runs them", () => {
    const starts = (text: string) => definitionOf(text).steps.map(({ id, start }) => `${id} ${start}`);
    expect(starts(file("{ run: fix }", "a: { exec: x }\nfix: { exec: x }"))).toEqual([
      "a auto",
      "fix routed",
    ]);
    const own = "a: { exec: x, on_fail: { run: [] } }\nfix: { exec: x }";
    expect(() => starts(file("{ run: fix }", own))).toThrow(/`fix` can never run/);
  });

  it("is read alike from JSON, the builder and for jobs", () => {
    const routing = { defaults: { on_fail: { goto: { step: "setup", max: 1 }, run: ["fix"] } } };
    const steps = {
      setup: { exec: "x" },
      test: { exec: "x", depends_on: "setup" },
      fix: { exec: "x" },
    };
    const built = defineWorkflow({ name: "x", routing, steps });
    expect(definitionOf(JSON.stringify({ name: "x", routing, steps }))).toEqual(built);
    expect(built.steps[1]!.onFail).toMatchObject({ goto: "setup", gotoMax: 1, run: ["fix"] });
    const jobs = definitionOf(`routing: { defaults: { on_fail: { goto: setup } } }
jobs:
  - { name: setup, command: x }
  - { name: "work_{i}", command: x, depends_on: [setup], parameters: { i: "1:2" } }
`);
    expect(jobs.steps.map(({ onFail }) => onFail.goto)).toEqual([null, "setup", "setup"]);
  });

  it("is drawn with the steps that have it", () => {
    const { edges, nodes } = draw(definitionOf(file("{ goto: setup, goto_max: 2, run_js: r }", CHAIN)));
    expect(
      edges.filter(({ kind }) => kind === "on_fail").map(({ from, to, label }) => `${from} ${to} ${label}`),
    ).toEqual(["n1 n0 on fail: goto, max 2", "n2 n0 on fail: goto, max 2"]);
    expect(nodes[0]!.label).toBe("setup\non fail: run_js");
  });

  it("is described to editors as the on_fail of a step without its edge", () => {
    const schema = workflowJsonSchema() as { properties: { routing: { properties: { defaults: object } } } };
    expect(schema.properties.routing.properties.defaults).toMatchObject({
      properties: { on_fail: { $ref: "#/$defs/on_fail_defaults" } },
    });
  });
});

describe("problems of routing.defaults.on_fail", () => {
  it("are told once, however many steps have the default", () => {
    expect(summaryOf(file("{ run: [fxi], goto: setpu }", `${CHAIN}\nfix: { exec: x }`))).toEqual([
      "UNKNOWN_STEP 1:41 routing.defaults.on_fail.run[0]",
      "UNKNOWN_STEP 1:53 routing.defaults.on_fail.goto",
    ]);
    expect(problemsOf(file("{ goto: { step: setpu, max: 1 } }", CHAIN))).toMatchObject([
      {
        message: "routing.defaults.on_fail.goto names the unknown step `setpu`, did you mean `setup`?",
        path: "routing.defaults.on_fail.goto.step",
      },
    ]);
    const code = file(`{ run_js: "return outptus.a", goto_js: "return error.exit_cod" }`, CHAIN);
    expect(problemsOf(code, REAL_CHECKS).map(({ code, path }) => `${code} ${path}`)).toEqual([
      "UNKNOWN_NAME routing.defaults.on_fail.run_js",
      "UNKNOWN_NAME routing.defaults.on_fail.goto_js",
    ]);
  });

  it("are two bounds in the default itself", () => {
    expect(summaryOf(file("{ goto: { step: setup, max: 1 }, goto_max: 1 }", CHAIN))).toEqual([
      "INVALID_VALUE 1:33 routing.defaults.on_fail",
    ]);
  });

  it("are two bounds of which the step has one and the default the other; both places are named", () => {
    const stepOwns = (own: string) =>
      `setup: { exec: x }\ntest: { exec: x, depends_on: setup, on_fail: { ${own} } }`;
    expect(problemsOf(file("{ goto_max: 2 }", stepOwns("goto: { step: setup, max: 1 }")))).toMatchObject([
      {
        code: "INVALID_VALUE",
        message:
          "the goto of `test` has two bounds: `steps.test.on_fail.goto.max` and `routing.defaults.on_fail.goto_max`",
        hint: "Write `goto: setup` and `goto_max: 1` in the step, whose `goto_max` wins over the default's.",
        path: "steps.test.on_fail",
        line: 4,
      },
    ]);
    expect(problemsOf(file("{ goto: { step: setup, max: 2 } }", stepOwns("goto_max: 1")))).toMatchObject([
      {
        code: "INVALID_VALUE",
        message:
          "the goto of `test` has two bounds: `steps.test.on_fail.goto_max` and `routing.defaults.on_fail.goto.max`",
        hint: "Write `goto: setup` and `goto_max: 2` in routing.defaults.on_fail, so that the step's own `goto_max` wins.",
        path: "steps.test.on_fail",
      },
    ]);
  });

  it("are two bounds of a run list, and none where the step replaces the list", () => {
    const steps = (own: string) => `setup: { exec: x, on_fail: { ${own} } }\nfix: { exec: x }`;
    expect(
      problemsOf(file("{ run: { steps: [fix], max: 2 } }", steps("run_max: 1"))).map(({ message, hint }) => [
        message,
        hint,
      ]),
    ).toEqual([
      [
        "the run of `setup` has two bounds: `steps.setup.on_fail.run_max` and `routing.defaults.on_fail.run.max`",
        "Write `run: [fix]` and `run_max: 2` in routing.defaults.on_fail, so that the step's own `run_max` wins.",
      ],
    ]);
    const own = routingsOf(file("{ run: { steps: [fix], max: 2 } }", steps("run: [fix]")));
    expect(own.setup).toMatchObject({ run: ["fix"] });
    expect(own.setup).not.toHaveProperty("runMax");
  });

  it("are no two bounds where the default's goto is left out for the step", () => {
    const steps = `setup: { exec: x }\ntest: { exec: x, depends_on: setup }
aside: { exec: x, on_fail: { goto_max: 1 } }`;
    expect(warningsOf(file("{ goto: { step: setup, max: 2 } }", steps))).toEqual([
      "NO_EFFECT steps.aside.on_fail.goto_max",
    ]);
  });
});

describe("warnings of routing.defaults.on_fail", () => {
  it("are given for each default that applies to no step", () => {
    const all = `a: { exec: x, on_fail: { retry: { max: 1, backoff: none, on: [TIMEOUT] }, run: [], run_js: x, run_max: 1 } }
b: { exec: x, on_fail: { retry: { max: 1 }, run: [], run_js: x, run_max: 1 } }`;
    const defaults = "{ retry: { max: 2 }, run: b, run_js: r, run_max: 2, goto: a, goto_js: g, goto_max: 1 }";
    const found = fullWarningsOf(
      file(
        defaults,
        `${all}\nc: { exec: x, on_fail: { retry: { max: 0 }, run: [], run_js: x, run_max: 1 } }`,
      ),
    );
    expect(
      found.filter(({ code }) => code === "NO_EFFECT").map(({ path, message }) => `${path}: ${message}`),
    ).toEqual([
      "routing.defaults.on_fail.retry: the default `retry` applies to no step: all of them have these keys themselves",
      "routing.defaults.on_fail.run: the default `run` applies to no step: all of them have their own, or may not run these steps",
      "routing.defaults.on_fail.run_js: the default `run_js` applies to no step: all of them have their own",
      "routing.defaults.on_fail.run_max: the default `run_max` applies to no step: all of them have their own bound, or no run list",
      "routing.defaults.on_fail.goto: the default `goto` applies to no step: all of them have their own, or do not depend on its target in their scope",
      "routing.defaults.on_fail.goto_js: the default `goto_js` applies to no step: all of them have their own, or depend on nothing",
      "routing.defaults.on_fail.goto_max: the default `goto_max` applies to no step: all of them have their own bound, or no goto",
    ]);
    expect(found[0]).toMatchObject({ line: 1, column: 35 });
  });

  it("are not given for a retry of which a step takes one key", () => {
    const own = "a: { exec: x, on_fail: { retry: { max: 1, backoff: { delay_ms: 5 } } } }";
    expect(warningsOf(file("{ retry: { backoff: { max_delay_ms: 9 } } }", own))).toEqual([]);
    expect(warningsOf(file("{ retry: { backoff: { delay_ms: 9 } } }", own))).toEqual([
      "NO_EFFECT routing.defaults.on_fail.retry",
    ]);
  });

  it("about what a default does to steps stand at the default, and once", () => {
    const hidden = fullWarningsOf(file("{ goto: setup }", CHAIN, "unhandled: hold\n"));
    expect(hidden).toMatchObject([
      { code: "UNREACHABLE_RUNG", path: "routing.defaults.on_fail.goto", line: 2 },
    ]);
    expect(warningsOf(file("{ retry: { max: 1, on: [ODD] } }", CHAIN))).toEqual([
      "NO_EFFECT routing.defaults.on_fail.retry.on[0]",
    ]);
    expect(warningsOf(file("{ retry: { max: 20 } }", CHAIN))).toEqual([
      "BUDGET_TOO_SMALL routing.defaults.on_fail",
    ]);
  });

  it("do not doubt an output that a default's run_js brings along", () => {
    const steps = `build: { exec: x }
aside: { exec: x, on_fail: { run: [], run_js: "return ['fix']" } }
fix: { exec: "echo {{ outputs.build | sh }}", start: routed }`;
    expect(fullWarningsOf(file(`{ run_js: "return ['fix']" }`, steps), REAL_CHECKS)).toEqual([]);
    expect(fullWarningsOf(file(`{ retry: { max: 1 } }`, steps), REAL_CHECKS)).toMatchObject([
      { code: "OUTPUT_MAY_BE_MISSING" },
    ]);
  });
});
