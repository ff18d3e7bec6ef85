import { describe, expect, it } from "vitest";
import type { Definition } from "../../core/model/definition.js";
import { type LoadOptions, loadDefinition } from "../load.js";
import type { Problem } from "../read/problem.js";

const options: LoadOptions = {
  file: "flows/release.yaml",
  checkExpression: () => null,
  checkTemplate: () => null,
};

function definitionOf(text: string, more: Partial<LoadOptions> = {}): Definition {
  const result = loadDefinition(text, { ...options, ...more });
  if (!result.ok)
    throw new Error(result.problems.map((problem) => `${problem.path}: ${problem.message}`).join("\n"));
  return result.definition;
}

function problemsOf(text: string, more: Partial<LoadOptions> = {}): readonly Problem[] {
  const result = loadDefinition(text, { ...options, ...more });
  return result.ok ? [] : result.problems;
}

const step = (definition: Definition, id: string) =>
  definition.steps.find((candidate) => candidate.id === id)!;

describe("retry", () => {
  const retryOf = (own: string, defaults = "") =>
    step(
      definitionOf(
        `${defaults === "" ? "" : `routing: { defaults: { on_fail: { retry: ${defaults} } } }\n`}steps: { a: { exec: x${own === "" ? "" : `, on_fail: { retry: ${own} }`} } }`,
      ),
      "a",
    ).onFail.retry;

  it("is off without any word about it, and with `max: 0` alone", () => {
    expect(retryOf("")).toBeNull();
    expect(retryOf("", "{ max: 0 }")).toBeNull();
  });

  it("waits nothing without backoff, a fixed time with a delay alone, a second with a mode alone", () => {
    expect(retryOf("{ max: 2 }")).toEqual({
      max: 2,
      backoff: { mode: "none", delayMs: 0, maxDelayMs: null, jitter: 0 },
      on: [],
    });
    expect(retryOf("{ max: 2, backoff: { delay_ms: 30s } }")?.backoff).toMatchObject({
      mode: "fixed",
      delayMs: 30_000,
    });
    expect(retryOf("{ max: 2, backoff: linear }")?.backoff).toMatchObject({ mode: "linear", delayMs: 1_000 });
  });

  it("merges the file's defaults key by key, the step's own keys first", () => {
    expect(
      retryOf(
        "{ max: 3, backoff: { delay_ms: 5 } }",
        "{ max: 1, backoff: { mode: exponential, delay_ms: 2, jitter: 0.5 }, on: [503] }",
      ),
    ).toEqual({
      max: 3,
      backoff: { mode: "exponential", delayMs: 5, maxDelayMs: null, jitter: 0.5 },
      on: ["503"],
    });
    expect(retryOf("", "{ max: 1 }")?.max).toBe(1);
    expect(retryOf("{ backoff: none }", "{ max: 1, backoff: { delay_ms: 5 } }")?.backoff).toMatchObject({
      mode: "none",
      delayMs: 0,
    });
  });

  it("keeps a default backoff for --retry-max although nothing is retried", () => {
    expect(retryOf("", "{ max: 0, backoff: { mode: fixed, delay_ms: 2000 } }")).toMatchObject({
      max: 0,
      backoff: { delayMs: 2000 },
    });
  });

  it("may be written as execution.retry_policy, whose max_attempts counts the first try", () => {
    const written = step(
      definitionOf(`steps:
  a:
    kind: command
    implementation: { exec: make }
    execution: { timeout_ms: 30000, retry_policy: { max_attempts: 3, backoff: exponential, initial_delay_ms: 1000, max_delay_ms: 10000, retryable_errors: ['503', TIMEOUT] } }
`),
      "a",
    );
    expect(written).toMatchObject({
      action: { type: "command", exec: "make" },
      timeoutMs: 30_000,
      onFail: {
        retry: {
          max: 2,
          backoff: { mode: "exponential", delayMs: 1000, maxDelayMs: 10_000, jitter: 0 },
          on: ["503", "TIMEOUT"],
        },
      },
    });
  });

  it("cannot be written in both ways at once", () => {
    const text =
      "steps: { a: { exec: x, timeout_ms: 1, on_fail: { retry: { max: 1 } }, execution: { timeout_ms: 1, retry_policy: { max_attempts: 2 } } } }";
    expect(problemsOf(text).map((problem) => problem.message)).toEqual([
      "`timeout_ms` and `execution.timeout_ms` mean the same thing",
      "`on_fail.retry` and `execution.retry_policy` mean the same thing",
    ]);
  });
});

describe("start", () => {
  const startOf = (id: string, text: string) => step(definitionOf(text), id).start;

  it("is routed for a step without depends_on that a run list names, on failure or success", () => {
    const text =
      "steps: { a: { exec: x, on_fail: { run: fix }, on_success: { run: [tell, late] } }, fix: { exec: x }, tell: { exec: x }, late: { exec: x, depends_on: tell } }";
    expect([startOf("a", text), startOf("fix", text), startOf("tell", text), startOf("late", text)]).toEqual([
      "auto",
      "routed",
      "routed",
      "auto",
    ]);
  });

  it("obeys `start`", () => {
    expect(
      startOf("fix", "steps: { a: { exec: x, on_fail: { run: fix } }, fix: { exec: x, start: auto } }"),
    ).toBe("auto");
    expect(
      startOf(
        "b",
        "steps: { a: { exec: x, on_fail: { run_js: 'return []' } }, b: { exec: x, start: routed } }",
      ),
    ).toBe("routed");
  });
});
