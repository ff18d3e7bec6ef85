import { describe, expect, it } from "vitest";
import type { TrialOptions } from "../../test/support/harness.js";
import { replayedTrial } from "../../test/support/replayed-trial.js";
import type { Script } from "../../test/support/scripted-worker.js";
import { explain } from "./explain.js";

async function story(
  text: string,
  script: Script,
  step?: string,
  options: TrialOptions = {},
): Promise<string> {
  const { runAt, log } = await replayedTrial(text, script, options);
  return explain(runAt(), log, step === undefined ? {} : { step }).join("\n");
}

const RETRIED = `
name: release
steps:
  build: { type: noop, on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 1500 } } } }
  after: { type: noop, depends_on: [build] }
  last: { type: noop, depends_on: [after] }
`;

describe("the story of a run", () => {
  it("tells each failure with its class, every rung with its reason, and what the retry cost", async () => {
    const text = await story(RETRIED, { build: [{ exit: 7, stderr: "a\nno space" }, "ok"] });
    expect(text).toContain("build: completed");
    expect(text).toContain("Attempt 1 failed after 0 ms: exit code 7 (EXIT_7).");
    expect(text).toContain("Its class is application: the program itself ended with an error.");
    expect(text).toContain('Its last words on stderr: "no space".');
    expect(text).toContain("- stop: no, the run goes on.");
    expect(text).toContain("- restart: no, class application is not infrastructure.");
    expect(text).toContain("- retry: yes, EXIT_7: retry 1 of 2 in 1500 ms.");
    expect(text).toContain(
      "Cost: retry 1 of 2 of this visit and 1.5 s of waiting; max_loops: 1 retry + 0 loops of 10.",
    );
    expect(text).toContain("Attempt 2 completed after 0 ms.");
    expect(text).toContain("Left: 1 of 2 retries of visit 1, 10 of 10 loops of root.");
    expect(text).toMatch(/Nothing is left to do\.$/);
  });

  it("says what a failed step took down with it and what to do next", async () => {
    const text = await story(RETRIED, { build: ["fail"] });
    expect(text).toMatch(
      /^Run 1 of release is failed in 3\.0 s: 0 of 3 steps completed, 3 failures met\. EXIT_1: build: exit code 1$/m,
    );
    expect(text).toContain("- retry: no, all 2 retries of this visit are used.");
    expect(text).toContain("- fail: yes, no other rung applies.");
    expect(text).toContain("The step failed (EXIT_1): exit code 1.");
    expect(text).toContain("With it went all of after, last, which need it: canceled.");
    expect(text).toContain("Left: 0 of 2 retries of visit 1");
    expect(text).toContain(
      "Next: find out why the program ends with exit code 1. `daruma logs 1 build` prints what it said.",
    );
  });

  it("tells of one step only when asked, even of one that was merely canceled", async () => {
    const text = await story(RETRIED, { build: ["fail"] }, "last");
    expect(text).toContain("last: canceled\n  It was canceled (DEPENDENCY_FAILED): build failed.");
    expect(text).not.toContain("Attempt 1 failed");
  });

  it("tells of a repair, of the jump back after it and of both prices", async () => {
    const file = `
steps:
  setup: { type: noop }
  build: { type: noop, depends_on: [setup], on_fail: { run: [fix], goto: setup } }
  fix: { type: noop }
`;
    const text = await story(file, { build: ["fail", "fail", "ok"] });
    expect(text).toContain("- remediate: yes, run fix, then once more.");
    expect(text).toContain(
      "The repair worked, so it runs once more. Cost: the remediation of this visit and loop 1 of 10 of root.",
    );
    expect(text).toContain("- remediate: no, this visit has had its remediation.");
    expect(text).toContain("Back to setup (goto). Cost: loop 2 of 10 of root.");
    expect(text).toContain("A goto sent it on visit 2.");
    expect(text).toContain("Left: its remediation, 8 of 10 loops of root.");
  });

  it("tells what an expression gave, and why one was refused", async () => {
    const file = `
steps:
  a: { type: noop }
  b: { type: noop, depends_on: [a], on_fail: { goto_js: "return visit < 2 ? 'a' : null", run_js: "return boom.x" } }
`;
    const text = await story(file, { b: ["fail", "ok"] });
    expect(text).toContain(
      "Its on_fail.run_js was refused after 0.0 ms (EXPRESSION_THREW): boom is not defined.",
    );
    expect(text).toContain('Its on_fail.goto_js gave "a" in 0.0 ms.');
    expect(text).toContain("Back to a (goto_js).");
  });

  it("says that the loop budget ended the run, and how to raise it", async () => {
    const file = `
routing: { max_loops: 1 }
steps:
  a: { type: noop }
  b: { type: noop, depends_on: [a], on_fail: { goto: a } }
`;
    const text = await story(file, { b: ["fail"] });
    expect(text).toContain(
      `  - goto: no, max_loops (1) is used up: 1 loop.
  - fail: yes, the run ends here.
  Everything unsettled in root was given up.
  The step failed (LOOP_BUDGET_EXCEEDED): exit code 1 (EXIT_1), and max_loops (1) is used up: 1 loop.
  Left: 0 of 1 loops of root.`,
    );
    expect(text).toContain("Next: Mend the failure that the message names, bound the goto (");
  });

  it("names the branch of a fan-out and the tolerance of its join", async () => {
    const file = `
steps:
  list: { type: noop, forEach: true }
  visit: { type: script, content: "return foreach", depends_on: [list] }
  report: { type: noop, depends_on: [visit], fanout: reduce, join: any }
`;
    const text = await story(file, {
      list: [{ output: ["x", "y"] }],
      visit: (assignment) =>
        (assignment.variables.foreach as { index: number }).index === 1 ? "fail" : "ok",
    });
    expect(text).toContain("visit@list[1]: failed");
    expect(text).toContain(
      "Nothing is left to do: the run completed although visit@list[1] failed, as the file allows.",
    );
  });

  it("tells of a hold, what it blocks, and the commands that decide it", async () => {
    const file = `
unhandled: hold
steps: { build: { type: noop }, after: { type: noop, depends_on: [build] } }
`;
    const { runAt, log } = await replayedTrial(file, { build: ["fail"] });
    const text = explain(runAt(), log, { commandLine: (command) => `daruma ${command} --output-dir x` }).join(
      "\n",
    );
    expect(text).toContain("- hold: yes, the step has no failure handler.");
    expect(text).toContain("It was held until somebody decides; what depends on it waits.");
    expect(text).toContain("It holds up after.");
    expect(text).toContain("`daruma holds 1 --output-dir x` lists it");
    expect(text).toMatch(/Then `daruma resume 1 --output-dir x` goes on\.$/);
  });

  it("gives the catalogue's commands with the output folder, and the way to go on by hand", async () => {
    const { runAt, log } = await replayedTrial(RETRIED, { build: ["fail"] });
    const text = explain(runAt(), log, { commandLine: (command) => `daruma ${command} --output-dir x` }).join(
      "\n",
    );
    expect(text).toContain("`daruma logs 1 build --output-dir x` prints what it said.");
    expect(text).toContain(
      "Then `daruma retry 1 build --output-dir x` and `daruma resume 1 --output-dir x` go on from there",
    );
  });

  it("tells what an edge back to a settled step costs", async () => {
    const file = `
routing: { max_loops: 3 }
steps:
  a: { type: noop, start: auto }
  fix: { type: noop }
transitions:
  - { from: a, to: fix, on: failure }
  - { from: fix, to: a, on: success }
`;
    const text = await story(file, { a: ["fail", "ok"] });
    expect(text).toContain("Transition 2 leads on to a. Cost: loop 1 of 3 of root.");
    expect(text).toContain("Transition 2 brought the success of fix here.");
  });

  it("refuses an unknown step and lists those there are", async () => {
    await expect(story(RETRIED, {}, "biuld")).rejects.toMatchObject({
      code: "STEP_NOT_FOUND",
      hint: "Its steps: build, after, last.",
    });
  });

  it("prints no escape sequence of a step", async () => {
    const text = await story(RETRIED, { build: [{ exit: 7, stderr: "\x1b[31mred\x1b[0m" }, "ok"] });
    expect(text).toContain('Its last words on stderr: "red".');
    expect(text).not.toContain("\x1b");
  });
});
