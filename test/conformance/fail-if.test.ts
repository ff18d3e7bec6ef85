import { describe, expect, it } from "vitest";
import { exitCodeOfStatus } from "../../src/cli/terminal/exit-codes.js";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";
import { definitionOf, REAL_CHECKS, summaryOf } from "../support/workflow-text.js";

describe("fail_if", () => {
  it("makes a failure of a success, which climbs the ladder like any other", async () => {
    const run = await trial(
      `steps:
  a: { exec: make, fail_if: "output.score < 0.5", on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 100 } } } }
  b: { exec: make, depends_on: a }`,
      { a: [{ output: { score: 0.1 } }, { output: { score: 0.4 } }, { output: { score: 0.9 } }] },
    );
    expect(trace(run)).toEqual([
      "start a",
      "fail a FAIL_IF",
      "climb a retry",
      "retry a 1/2 +100",
      "start a",
      "fail a FAIL_IF",
      "climb a retry",
      "retry a 2/2 +100",
      "start a",
      "ok a",
      "start b",
      "ok b",
      "run completed",
    ]);
    expect(run.times).toEqual([0, 100, 200, 200]);
    expect(exitCodeOfStatus(run.run.status)).toBe(0);
  });

  it("is a failure of class application, with the expression in its message and no output on record", async () => {
    const run = await trial(
      `steps:
  a: { exec: make, fail_if: "output === 'bad'" }
  b: { exec: make, depends_on: a }`,
      { a: [{ output: "bad" }] },
    );
    expect(run.job("a")).toMatchObject({
      status: "failed",
      output: null,
      error: {
        code: "FAIL_IF",
        class: "application",
        exit_code: null,
        message: "fail_if is true: output === 'bad'",
      },
    });
    expect(run.job("b").status).toBe("canceled");
    expect(exitCodeOfStatus(run.run.status)).toBe(1);
  });

  it("that cannot be evaluated is a failure that no retry helps", async () => {
    const run = await trial(
      `steps:
  a: { exec: make, fail_if: "output.deep.er", on_fail: { retry: { max: 3 } } }`,
      { a: [{ output: {} }] },
    );
    expect(run.order).toEqual(["a"]);
    expect(run.job("a").error).toMatchObject({ code: "FAIL_IF_ERROR", class: "deterministic_contract" });
  });

  it("sees inputs, other outputs and the environment, and lets a false one pass", async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, env: { LIMIT: "{{ outputs.a }}" }, fail_if: "output > outputs.a || Number(env.LIMIT) !== 7" }`,
      { a: [{ output: 7 }], b: [{ output: 3 }] },
    );
    expect(run.job("b")).toMatchObject({ status: "completed" });
  });

  it("is not asked about an attempt that failed by itself", async () => {
    const run = await trial(`steps:\n  a: { exec: make, fail_if: "true" }`, { a: [{ exit: 3 }] });
    expect(run.job("a").error).toMatchObject({ code: "EXIT_3" });
  });

  it("holds for a step that does nothing too", async () => {
    const run = await trial(`steps:\n  a: { type: noop, fail_if: true }`);
    expect(run.job("a").error).toMatchObject({ code: "FAIL_IF" });
  });

  it("alone may name `output`, and human steps may not have it", () => {
    expect(definitionOf('steps: { a: { exec: x, fail_if: "output" } }', REAL_CHECKS).steps[0]!.failIf).toBe(
      "output",
    );
    expect(summaryOf('steps: { a: { exec: x, if: "output" } }', REAL_CHECKS)).toEqual([
      "UNKNOWN_NAME 1:29 steps.a.if",
    ]);
    expect(summaryOf('steps: { a: { exec: x, fail_if: "otput" } }', REAL_CHECKS)).toEqual([
      "UNKNOWN_NAME 1:34 steps.a.fail_if",
    ]);
    expect(summaryOf('steps: { a: { type: human, prompt: x, fail_if: "true" } }')).toEqual([
      "INVALID_VALUE 1:39 steps.a.fail_if",
    ]);
  });
});
