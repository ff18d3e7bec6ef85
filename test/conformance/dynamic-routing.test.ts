import { afterAll, describe, expect, it } from "vitest";
import { createSandbox } from "../../src/run/sandbox/quickjs-sandbox.js";
import type { Sandbox } from "../../src/run/sandbox/sandbox.js";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const sandbox = createSandbox();
afterAll(() => sandbox.close());

/** setup <- build, build fails once with "module not found", with the given on_fail. */
function failOnce(onFail: string, outcomes: readonly ("fail" | "ok")[] = ["fail", "ok"]) {
  return trial(
    `steps:
  setup: { exec: make }
  prepare: { exec: make, depends_on: setup }
  build: { exec: make, depends_on: prepare, on_fail: ${onFail} }
  fix: { exec: make, start: routed }
  extra: { exec: make, start: routed }`,
    {
      build: outcomes.map((outcome) =>
        outcome === "ok" ? "ok" : { exit: 1, stderr: "Error: module not found" },
      ),
    },
    { sandbox },
  );
}

describe("dynamic routing in the real sandbox", () => {
  it("a valid id from goto_js wins over goto", { tags: ["V21", "V32", "V61", "V75"] }, async () => {
    const run = await failOnce(
      `{ goto: prepare, goto_js: "if (error.stderr.includes('module not found')) return 'setup'; return null;" }`,
    );
    expect(trace(run).slice(4)).toEqual([
      "start build",
      "fail build EXIT_1",
      'evaluated build on_fail.goto_js: "setup"',
      "climb build goto",
      "goto build -> setup after failure, loop 1",
      "again setup prepare build",
      "start setup",
      "ok setup",
      "start prepare",
      "ok prepare",
      "start build",
      "ok build",
      "skipped fix extra",
      "run completed",
    ]);
    expect(run.events("goto.taken")[0]!.reason).toBe("goto_js");
  });

  it.each([
    ["null", "return null"],
    ["undefined", "return undefined"],
    ["nothing", "const x = 1;"],
  ])("a goto_js that returns %s leaves goto in force", { tags: ["V30", "V32", "V75"] }, async (_, code) => {
    const run = await failOnce(`{ goto: prepare, goto_js: "${code}" }`);
    expect(run.order).toEqual(["setup", "prepare", "build", "prepare", "build"]);
    expect(run.events("evaluation.finished")[0]!.result).toMatchObject({ ok: true, value: null });
  });

  it("a goto_js that returns null without a goto means no goto", { tags: ["V30", "V61"] }, async () => {
    const run = await failOnce(`{ goto_js: "return null" }`);
    expect(run.order).toEqual(["setup", "prepare", "build"]);
    expect(run.run.status).toBe("failed");
  });

  it("run_js decides the repair by the error", { tags: ["V21", "V62"] }, async () => {
    const run = await failOnce(
      `{ run_js: "const fixes = []; if (error.stderr.includes('module')) fixes.push('fix', 'extra'); return fixes;" }`,
    );
    expect(run.order).toEqual(["setup", "prepare", "build", "fix", "extra", "build"]);
    expect(run.run.status).toBe("completed");
  });

  it("both are evaluated after a failure, each when its rung is reached", { tags: ["V21"] }, async () => {
    const run = await failOnce(`{ retry: { max: 1 }, run_js: "return ['fix']", goto_js: "return 'setup'" }`, [
      "fail",
      "fail",
      "fail",
      "ok",
    ]);
    expect(run.order).toEqual([
      "setup",
      "prepare",
      "build",
      "build",
      "fix",
      "build",
      "setup",
      "prepare",
      "build",
    ]);
    expect(run.events("evaluation.finished").map(({ purpose }) => purpose)).toEqual([
      "on_fail.run_js",
      "on_fail.goto_js",
    ]);
  });

  it.each([
    ["throws", "throw new Error('no')", "EXPRESSION_THREW"],
    ["returns a number", "return 42", "EXPRESSION_RESULT"],
    ["returns a list", "return ['setup']", "EXPRESSION_RESULT"],
    ["runs for ever", "while (true) {}", "EXPRESSION_TIMEOUT"],
    ["uses too much memory", "return 'x'.repeat(40 * 1024 * 1024)", "EXPRESSION_MEMORY"],
    ["asks for a module", "return require('fs')", "EXPRESSION_THREW"],
    ["asks for the process", "return process.env.HOME", "EXPRESSION_THREW"],
    ["sets a timer", "setTimeout(() => 1, 1)", "EXPRESSION_THREW"],
    ["is asynchronous", "return Promise.resolve('setup')", "EXPRESSION_RESULT"],
    ["asks for randomness", "return Math.random() > 2 ? 'a' : 'b'", "EXPRESSION_THREW"],
    ["changes its input", "'use strict'; error.message = 'x'; return 'setup'", "EXPRESSION_THREW"],
  ])(
    "%s in goto_js: refused with its reason, the static goto still applies",
    { tags: ["V40", "V30", "V51", "V64", "V37", "V63", "V36", "V35", "V39"] },
    async (_, code, refusal) => {
      const run = await failOnce(`{ goto: prepare, goto_js: "${code}" }`);
      expect(run.order).toEqual(["setup", "prepare", "build", "prepare", "build"]);
      expect(run.run.status).toBe("completed");
      const { result } = run.events("evaluation.finished")[0]!;
      expect(result).toMatchObject({ ok: false, code: refusal });
      expect(run.events("goto.taken")[0]!.reason).toContain("goto_js refused");
    },
  );

  it.each([
    ["throws", "throw new Error('no')", "EXPRESSION_THREW"],
    ["returns a string", "return 'extra'", "EXPRESSION_RESULT"],
    ["returns a list of numbers", "return [1]", "EXPRESSION_RESULT"],
    ["returns 160 KB of names", "return Array(20000).fill('extra')", "EXPRESSION_RESULT"],
    ["runs for ever", "for (;;) {}", "EXPRESSION_TIMEOUT"],
  ])(
    "%s in run_js: refused with its reason, the static run still applies",
    { tags: ["V40", "V31", "V64", "V39", "V63"] },
    async (_, code, refusal) => {
      const run = await failOnce(`{ run: [fix], run_js: "${code}" }`);
      expect(run.order).toEqual(["setup", "prepare", "build", "fix", "build"]);
      expect(run.events("evaluation.finished")[0]!.result).toMatchObject({ ok: false, code: refusal });
      expect(run.events("remediation.started")[0]!.reason).toContain("run_js refused");
    },
  );

  it("an unknown step from goto_js is refused, the static goto still applies", {
    tags: ["V30"],
  }, async () => {
    const run = await failOnce(`{ goto: prepare, goto_js: "return 'nowhere'" }`);
    expect(run.order).toEqual(["setup", "prepare", "build", "prepare", "build"]);
    expect(run.events("goto.taken")[0]!.reason).toContain("there is no step nowhere");
  });

  it("Math, JSON and the event's time are there", { tags: ["V36"] }, async () => {
    const run = await failOnce(
      `{ goto_js: "return JSON.parse('true') && Math.max(1, 2) === 2 && Date.now() === ${1_700_000_000_000} ? 'setup' : null" }`,
    );
    expect(run.events("goto.taken")).toHaveLength(1);
  });

  it("one unknown step in run_js refuses the whole list with its reason, the static run still applies", {
    tags: ["V31"],
  }, async () => {
    const run = await failOnce(`{ run: [fix], run_js: "return ['extra', 'nowhere']" }`);
    expect(run.order).toEqual(["setup", "prepare", "build", "fix", "build"]);
    expect(run.events("evaluation.finished")[0]!.result).toMatchObject({
      ok: false,
      code: "EXPRESSION_RESULT",
      reason: "there is no step nowhere",
    });
    expect(run.events("remediation.started")[0]).toMatchObject({
      steps: ["fix"],
      reason: "run fix, then try again; run_js refused: there is no step nowhere",
    });
  });

  it("without a static run the refused list leaves nothing to repair with, and the climb goes on", {
    tags: ["V31"],
  }, async () => {
    const run = await failOnce(`{ run_js: "return ['extra', 'nowhere']", goto: setup }`);
    expect(run.order).toEqual(["setup", "prepare", "build", "setup", "prepare", "build"]);
    expect(run.events("ladder.climbed")[0]!.considered).toContainEqual({
      rung: "remediate",
      applied: false,
      kind: "no_target",
      reason: "run_js refused: there is no step nowhere",
    });
  });

  it("a step that exists but cannot be entered is left out alone", { tags: ["V31"] }, async () => {
    const run = await failOnce(`{ run_js: "return ['build', 'extra']" }`);
    expect(run.order).toEqual(["setup", "prepare", "build", "extra", "build"]);
    expect(run.events("remediation.started")[0]!.reason).toBe(
      "run extra, then try again; build refused: build is the step itself",
    );
  });

  it("what an expression throws or makes up stands on one line, without escapes, wherever it is recorded", {
    tags: ["V30", "V40"],
  }, async () => {
    const hostile = String.raw`no\r\n  +9.999s  build completed\u001b]0;title\u0007\u001b[2K\u202e!`;
    const quoted = (code: string) => JSON.stringify(code);
    const thrown = await failOnce(`{ goto: prepare, goto_js: ${quoted(`throw new Error('${hostile}')`)} }`);
    const shown = "no +9.999s build completed!";
    expect(thrown.events("evaluation.finished")[0]!.result).toMatchObject({
      code: "EXPRESSION_THREW",
      reason: expect.stringMatching(/no \+9\.999s build completed!$/),
    });
    expect(thrown.events("goto.taken")[0]!.reason).toContain(`${shown}; goto`);
    const named = await failOnce(`{ run: [fix], run_js: ${quoted(`return ['${hostile}']`)} }`);
    expect(named.events("remediation.started")[0]!.reason).toBe(
      `run fix, then try again; run_js refused: there is no step ${shown}`,
    );
    for (const { log } of [thrown, named]) expect(JSON.stringify(log)).not.toMatch(/\\u001b|\\r|\u202e/);
  });

  it("an expression has 25 ms of CPU time, counted by its turns so that a busy machine takes none of it", {
    tags: ["V37"],
  }, async () => {
    // 10,000 jumps of the interpreter are an interrupt, 5 interrupts a millisecond: 25 ms are 1,250,000 turns of one jump each.
    const verdict = async (turns: number) => {
      const code = `let i = ${turns}; do {} while (--i); return 'setup'`;
      const result = await sandbox.evaluate({ code, variables: {}, now: 0, expects: "step_id_or_null" });
      return result.ok ? result.value : result.code;
    };
    expect(await verdict(1_150_000)).toBe("setup");
    expect(await verdict(1_350_000)).toBe("EXPRESSION_TIMEOUT");
  });

  it("an expression of 8 KB is evaluated; one of a byte more is refused by the file and by the sandbox", {
    tags: ["V38"],
  }, async () => {
    const codeOf = (bytes: number) => "return 'setup' //".padEnd(bytes, "x");
    const run = await failOnce(`{ goto_js: "${codeOf(8_192)}" }`);
    expect(run.events("goto.taken")).toMatchObject([{ to: "setup" }]);
    await expect(failOnce(`{ goto_js: "${codeOf(8_193)}" }`)).rejects.toThrow(/EXPRESSION_TOO_LONG/);
    const evaluate = (code: string) =>
      sandbox.evaluate({ code, variables: {}, now: 0, expects: "step_id_or_null" });
    expect(await evaluate(codeOf(8_192))).toMatchObject({ ok: true, value: "setup" });
    expect(await evaluate(codeOf(8_193))).toMatchObject({ ok: false, code: "EXPRESSION_TOO_LONG" });
  });

  it("the decision is in the log: an engine that takes the run over evaluates nothing again", {
    tags: ["V2", "V35"],
  }, async () => {
    let evaluations = 0;
    const counted: Sandbox = {
      evaluate(evaluation) {
        evaluations += 1;
        return sandbox.evaluate(evaluation);
      },
      render: (rendering) => sandbox.render(rendering),
      close: () => Promise.resolve(),
    };
    const stage = await Stage.begin(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { goto_js: "return attempt === 1 ? 'setup' : null" } }`,
      { setup: ["ok", { output: null, takesMs: 100 }], build: ["fail", "ok"] },
      { sandbox: counted },
    );
    while (stage.worker.order.length < 3) await stage.turn(0);
    stage.kill();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["setup", "build", "setup", "setup", "build"]);
    expect(run.run.status).toBe("completed");
    expect(evaluations).toBe(1);
    const types = run.log.map(({ event }) => event.type);
    expect(types.indexOf("attempt.failed")).toBeLessThan(types.indexOf("evaluation.requested"));
    expect(types.indexOf("evaluation.requested")).toBeLessThan(types.indexOf("evaluation.finished"));
    expect(types.indexOf("evaluation.finished")).toBeLessThan(types.indexOf("ladder.climbed"));
  });
});
