import { describe, expect, it } from "vitest";
import { loadDefinition } from "../../src/file/load.js";
import { checkTemplate } from "../../src/run/sandbox/template.js";
import { checkExpression } from "../../src/run/sandbox/wrap-code.js";
import { trial, workflow } from "../support/harness.js";
import { trace } from "../support/trace.js";
import { fullWarningsOf, REAL_CHECKS, summaryOf } from "../support/workflow-text.js";

/** The sketch of the seed; `{...}` marks where its gotos need a depends_on. */
function sketch(dependencies: { unitTests: string; summary: string }): string {
  return `version: "2.0"
routing:
  max_loops: 10
  defaults:
    on_fail:
      retry:
        max: 0
        backoff:
          mode: fixed
          delay_ms: 2000
steps:
  setup-env:
    type: command
    exec: "npm ci"
  unit-tests:
    type: command
    exec: "npm test"
    ${dependencies.unitTests}
    on_fail:
      retry: { max: 1, backoff: { mode: fixed, delay_ms: 3000 } }
      goto: setup-env
      goto_js: |
        if (error.message?.includes('module not found')) return 'setup-env';
        return null;
      run_js: |
        const fixes = [];
        if (error.stderr?.includes('lint')) fixes.push('lint-fix');
        return fixes;
  lint-fix:
    type: command
    exec: "npm run lint:fix"
  build:
    type: command
    exec: "npm run build"
    on_fail:
      run: [lint-fix]
      retry: { max: 1 }
  summary:
    type: command
    exec: "node scripts/summarize.js"
    ${dependencies.summary}
    on_success:
      run: [notify]
      goto_js: |
        if (/retest/i.test(outputs?.summary ?? '')) return 'unit-tests';
        return null;
  notify:
    type: command
    exec: "echo notify"
`;
}

const WHOLE = sketch({ unitTests: "depends_on: [setup-env]", summary: "depends_on: [unit-tests, build]" });

function problemsOf(text: string) {
  const loaded = loadDefinition(text, { file: "w.yaml", checkExpression, checkTemplate });
  return loaded.ok ? [] : loaded.problems;
}

describe("the file", () => {
  it("the sketch loads and runs with depends_on added to its gotos", {
    tags: ["V3", "V10", "V11", "V12"],
  }, async () => {
    const run = await trial(
      WHOLE,
      {
        "unit-tests": [{ exit: 1, stderr: "lint" }, { exit: 1, stderr: "lint" }, "ok"],
        build: ["fail", "ok"],
        summary: [{ output: "retest" }, { output: "ok" }],
      },
      { capacity: 1 },
    );
    expect(run.run.status).toBe("completed");
    // lint-fix repairs unit-tests after its retry; build is retried after the backoff of the defaults.
    expect(run.order).toEqual([
      "setup-env",
      "build",
      "unit-tests",
      "build",
      "unit-tests",
      "lint-fix",
      "unit-tests",
      "summary",
      "notify",
      "unit-tests",
      "summary",
      "notify",
    ]);
    expect(run.times.slice(0, 5)).toEqual([0, 0, 0, 2000, 3000]);
  });

  it("may look for an output that no step has, if it is ready for none", { tags: ["V12"] }, () => {
    const text = (read: string) => `steps:
  a: { exec: "true" }
  b: { exec: "true", depends_on: [a], on_success: { goto_js: "return ${read} ? 'a' : null" } }`;
    const read = "/retest/i.test(outputs?.overview ?? '')";
    expect(fullWarningsOf(text(read), REAL_CHECKS)).toMatchObject([
      { code: "UNKNOWN_STEP", path: "steps.b.on_success.goto_js" },
    ]);
    expect(summaryOf(text("outputs.overview === 1"), REAL_CHECKS)).toEqual([
      "UNKNOWN_STEP 3:78 steps.b.on_success.goto_js",
    ]);
    expect(summaryOf(text("!outputs.overview"), REAL_CHECKS)).toHaveLength(1);
  });

  it("without them, the error says which to add", { tags: ["V12", "V50"] }, () => {
    const problems = problemsOf(sketch({ unitTests: "", summary: "" }));
    const [first] = problems;
    expect(problems.map(({ code }) => code)).toEqual(["GOTO_NOT_ANCESTOR"]);
    expect(first!.hint).toContain("`setup-env`");
    expect(first!.hint).toContain("depends_on");
    expect(first).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
  });

  it.each([
    ["the step itself", "{ exec: make, on_fail: { goto: a } }", "GOTO_NOT_ANCESTOR"],
    ["a step that does not exist", "{ exec: make, on_fail: { goto: nowhere } }", "UNKNOWN_STEP"],
    ["a run list with itself", "{ exec: make, on_fail: { run: [a] } }", "RUN_TARGET"],
    ["a run list with a dependent", "{ exec: make, on_fail: { run: [b] } }", "RUN_TARGET"],
    ["a dependency in a circle", "{ exec: make, depends_on: b }", "CYCLE"],
    [
      "an expression that does not compile",
      '{ exec: make, on_fail: { goto_js: "return (" } }',
      "EXPRESSION_SYNTAX",
    ],
    ["a labelled checkpoint", "{ exec: make, on_fail: { goto_checkpoint: b } }", "UNKNOWN_KEY"],
  ])("refuses %s", { tags: ["V50", "V80"] }, (_, a, code) => {
    const problems = problemsOf(`steps:\n  a: ${a}\n  b: { exec: make, depends_on: a }\n  c: { exec: make }`);
    const found = problems.find((problem) => problem.code === code);
    expect(found).toMatchObject({ line: expect.any(Number), hint: expect.stringMatching(/\w/) });
  });

  it("a qualifier for another scope is no step id", { tags: ["V83"] }, () => {
    expect(
      problemsOf(
        `steps:\n  a: { exec: make }\n  b: { exec: make, depends_on: a, on_fail: { goto: "parent:a" } }`,
      ).map(({ code }) => code),
    ).toEqual(["UNKNOWN_STEP"]);
  });

  it("a file without on_fail runs plainly: each step once, dependents of a failure canceled", {
    tags: ["V3", "V72"],
  }, async () => {
    const text = `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a }
  c: { exec: make, depends_on: b }
  d: { exec: make }`;
    const good = await trial(text, {}, { capacity: 1 });
    expect(trace(good)).toEqual([
      "start a",
      "ok a",
      "start d",
      "ok d",
      "start b",
      "ok b",
      "start c",
      "ok c",
      "run completed",
    ]);
    const bad = await trial(text, { b: ["fail"] }, { capacity: 1 });
    expect(trace(bad)).toEqual([
      "start a",
      "ok a",
      "start d",
      "ok d",
      "start b",
      "fail b EXIT_1",
      "climb b fail",
      "failed b EXIT_1",
      "canceled c DEPENDENCY_FAILED",
      "run failed EXIT_1",
    ]);
    expect(bad.routes).toEqual([]);
    expect(workflow(text).definition.steps[0]!.onFail).toEqual({
      retry: null,
      run: [],
      runJs: null,
      goto: null,
      gotoJs: null,
      gotoMax: null,
    });
  });

  it("top-level flow with all three answers to failure, in the order of the ladder", {
    tags: ["V4", "V65"],
  }, async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { retry: { max: 1 }, run: [fix], goto: setup } }
  fix: { exec: make }
  after: { exec: make, depends_on: build }`,
      { build: ["fail", "fail", "fail", "fail", "ok"] },
    );
    expect(run.order).toEqual([
      "setup",
      "build",
      "build",
      "fix",
      "build",
      "setup",
      "build",
      "build",
      "after",
    ]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual([
      "retry",
      "remediate",
      "goto",
      "retry",
    ]);
    expect(run.routes.map(({ rung }) => rung)).toEqual(["retry", "remediate", "goto", "retry"]);
  });
});
