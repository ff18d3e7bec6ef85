import { afterAll, describe, expect, it } from "vitest";
import { judged } from "../../../test/support/error-record.js";
import { MAX_SCRIPT_BYTES } from "../../core/model/action-traits.js";
import type { EvaluationResult } from "../../core/model/events.js";
import type { Json } from "../../core/text/json.js";
import { createSandbox } from "../sandbox/quickjs-sandbox.js";
import type { Evaluation, Sandbox } from "../sandbox/sandbox.js";
import type { Attempt, StopCause } from "./action.js";
import { noopAction } from "./built-in-actions.js";
import { createScriptAction } from "./script.js";

const sandbox = createSandbox();
afterAll(() => sandbox.close());

function attemptOf(keys: Record<string, Json>, part: Partial<Attempt> = {}): Attempt {
  return {
    runId: 1,
    workflowId: 1,
    jobId: 10_000_001,
    stepId: "s",
    attempt: 1,
    token: "t",
    action: { type: "script", ...keys },
    env: {},
    cwd: "/",
    variables: { inputs: { n: 20 } },
    startedAt: 1_000,
    timeoutMs: null,
    idleTimeoutMs: null,
    killGraceMs: 0,
    writeStdout() {},
    writeStderr() {},
    outputFile: "",
    failureFile: "",
    signal: new AbortController().signal,
    ...part,
  };
}

const run = (content: Json, part: Partial<Attempt> = {}) =>
  createScriptAction(sandbox).run(attemptOf({ content }, part));

/** Notes what it is asked and gives the answer it was made with. */
function answering(result: EvaluationResult): Sandbox & { readonly asked: Evaluation[] } {
  const asked: Evaluation[] = [];
  return {
    asked,
    evaluate: async (evaluation) => {
      asked.push(evaluation);
      return result;
    },
    render: async () => result,
    close: async () => {},
  };
}

describe("a script step", () => {
  it("gives what the script returns from the variables it sees", async () => {
    expect(await run("return { double: inputs.n * 2, at: Date.now() }")).toEqual({
      kind: "succeeded",
      output: { double: 40, at: 1_000 },
    });
  });

  it("fails as SCRIPT_ERROR with the message of what it threw", async () => {
    const result = await run("throw new Error('no such thing')");
    expect(result).toMatchObject({
      kind: "failed",
      facts: { code: "SCRIPT_ERROR", message: expect.stringContaining("no such thing") },
    });
  });

  it("tells where it was thrown, by the lines of the script; what is no error has no such place", async () => {
    const content = "function deep() {\n  throw new TypeError('no such thing');\n}\nreturn deep();";
    expect(await run(content)).toMatchObject({
      facts: {
        message: "TypeError: no such thing",
        stack: expect.stringMatching(/^TypeError: no such thing\n +at deep \(script:2.*\n +at .*script:4/),
      },
    });
    const plain = await run("throw 'just words'");
    expect(plain).toEqual({ kind: "failed", facts: { message: "just words", code: "SCRIPT_ERROR" } });
    const hostile = await run("throw Object.defineProperty(new Error('x'), 'stack', { get() { throw 1; } })");
    expect(hostile).toEqual({ kind: "failed", facts: { message: "Error: x", code: "SCRIPT_ERROR" } });
  });

  it("fails as a timeout when it runs on for ever", async () => {
    const result = await run("while (true) {}", { timeoutMs: 50 });
    if (result.kind !== "failed") throw new Error("expected a failure");
    expect(judged(result.facts)).toMatchObject({ code: "TIMEOUT", exit_code: 124 });
  });

  it("may take its timeout_ms, however much it computes; without one it may compute for a second, however long that takes", async () => {
    const noting = answering({ ok: true, value: null, duration_ms: 0 });
    await createScriptAction(noting).run(attemptOf({ content: "1" }));
    await createScriptAction(noting).run(attemptOf({ content: "1" }, { timeoutMs: 70_000 }));
    expect(noting.asked.map(({ budgetMs, deadlineMs, expects }) => [budgetMs, deadlineMs, expects])).toEqual([
      [1_000, 30_000, "json"],
      [Number.POSITIVE_INFINITY, 70_000, "json"],
    ]);
  });

  it("is not stopped by its second while it reads large variables and computes little", async () => {
    const list = Array.from({ length: 150_000 }, (_, index) => ({ index, text: "some words to read" }));
    const content = "return inputs.list.reduce((sum, { index }) => sum + index, 0)";
    const result = await run(content, { variables: { inputs: { list } } });
    expect(result).toEqual({ kind: "succeeded", output: (150_000 * 149_999) / 2 });
  });

  it("without a timeout_ms is stopped when it has computed enough, and told how to have more", async () => {
    const result = await run("while (true) {}");
    expect(result).toEqual({
      kind: "failed",
      facts: {
        message: "the script ran for longer than 1 s; give the step a timeout_ms to let it run longer",
        timeout: "wall",
      },
    });
  });

  it("says why it was stopped from outside", async () => {
    const stop = new AbortController();
    stop.abort("idle_timeout" satisfies StopCause);
    const refusing = answering({ ok: false, code: "EXPRESSION_THREW", reason: "aborted", duration_ms: 0 });
    const result = await createScriptAction(refusing).run(
      attemptOf({ content: "1" }, { signal: stop.signal }),
    );
    expect(result).toMatchObject({ kind: "failed", facts: { timeout: "idle" } });
  });

  it("takes 256 KB of code and no more, counted in bytes", async () => {
    const noting = answering({ ok: true, value: null, duration_ms: 0 });
    const script = createScriptAction(noting);
    expect((await script.run(attemptOf({ content: "a".repeat(MAX_SCRIPT_BYTES) }))).kind).toBe("succeeded");
    expect(await script.run(attemptOf({ content: "é".repeat(MAX_SCRIPT_BYTES / 2 + 1) }))).toMatchObject({
      kind: "failed",
      facts: { code: "SCRIPT_ERROR" },
    });
    expect(noting.asked).toHaveLength(1);
  });
});

describe("a noop step", () => {
  it("gives its output, or null", async () => {
    expect(await noopAction.run(attemptOf({ output: { a: 1 } }))).toEqual({
      kind: "succeeded",
      output: { a: 1 },
    });
    expect(await noopAction.run(attemptOf({}))).toEqual({ kind: "succeeded", output: null });
  });
});
