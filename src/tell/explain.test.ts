import { describe, expect, it } from "vitest";
import type { TrialOptions } from "../../test/support/harness.js";
import { replayedTrial } from "../../test/support/replayed-trial.js";
import type { Script } from "../../test/support/scripted-worker.js";
import type { LoggedEvent } from "../core/model/events.js";
import type { Run } from "../core/model/run.js";
import { explain } from "./explain.js";
import { type RecordedRun, readStories } from "./words/job-story.js";

function recorded({ id: runId, definition }: Run, log: readonly LoggedEvent[]): RecordedRun {
  return { runId, definition, log };
}

/** With every rung. */
async function story(
  text: string,
  script: Script,
  step?: string,
  options: TrialOptions = {},
): Promise<string> {
  const { runAt, log } = await replayedTrial(text, script, options);
  return explain(recorded(runAt(), log), { full: true, ...(step === undefined ? {} : { step }) }).lines.join(
    "\n",
  );
}

async function briefly(text: string, script: Script, step?: string): Promise<string[]> {
  const { runAt, log } = await replayedTrial(text, script);
  return explain(recorded(runAt(), log), step === undefined ? {} : { step }).lines;
}

const RETRIED = `
name: release
steps:
  build: { type: noop, on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 1500 } } } }
  after: { type: noop, depends_on: [build] }
  last: { type: noop, depends_on: [after] }
`;

describe("the story of a run", () => {
  it("says of what was to be undone how much of it was", async () => {
    const file = `steps:
  a: { type: noop, undo: undo-a }
  b: { type: noop, undo: undo-b, depends_on: a }
  c: { type: noop, depends_on: b }
  undo-a: { type: noop }
  undo-b: { type: noop }`;
    const second = async (script: Script, options: TrialOptions = {}) =>
      (await story(file, { c: ["fail"], ...script }, undefined, options)).split("\n")[1];
    expect(await second({})).toBe("2 steps were undone (after 0 ms).");
    expect(await second({ "undo-b": ["fail"] })).toBe("2 steps were to be undone (after 0 ms); none so far.");
    const noHolds = { options: { failure_routing: false } };
    expect(await second({ "undo-b": ["fail"] }, noHolds)).toBe(
      "2 steps were to be undone (after 0 ms), and 1 of them was.",
    );
  });

  it("tells each failure with its class, every rung with its reason, and what the retry cost", async () => {
    const text = await story(RETRIED, { build: [{ exit: 7, stderr: "a\nno space" }, "ok"] });
    expect(text).toContain("build: completed");
    expect(text).toContain("Attempt 1 failed after 0 ms: exit code 7 (EXIT_7).");
    expect(text).toContain("Its class is application: the program itself ended with an error.");
    expect(text).toContain('It printed on stderr: "no space".');
    expect(text).toContain("- stop: no, the run was not stopped.");
    expect(text).toContain("- restart: no, only for infrastructure failures; this was application.");
    expect(text).toContain("- retry: yes, EXIT_7: retry 1 of 2 in 1.5 s.");
    expect(text).toContain(
      "Cost: retry 1 of 2 of this visit and 1.5 s of waiting; max_loops: 1 retry + 0 loops of 10.",
    );
    expect(text).toContain("Attempt 2 completed in 0 ms.");
    expect(text).toMatch(/Left: 1 of 2 retries of visit 1, 10 of 10 loops\.$/);
  });

  it("shows what a job that came no further printed last, on whichever stream, where that is more than a line", async () => {
    const file = "name: ci\nsteps: { test: { type: noop }, lint: { type: noop } }";
    const lines = await briefly(file, {
      test: [
        {
          facts: {
            ...{ exitCode: 1, message: "exit code 1" },
            stdoutTail: "FAIL adds numbers\n1 of 12 tests failed\n",
          },
        },
      ],
      lint: [{ exit: 2, stderr: "one problem" }],
    });
    expect(lines.slice(2, 9)).toEqual([
      "test: failed",
      "  Attempt 1 failed after 0 ms: exit code 1 (EXIT_1).",
      '  It printed on stdout: "FAIL adds numbers".',
      "  The step failed.",
      "  It printed:",
      "    | FAIL adds numbers",
      "    | 1 of 12 tests failed",
    ]);
    expect(lines.slice(9).join("\n")).not.toContain("It printed:");
  });

  it("knows of a job that only completed when it is asked for, and when more happens to it", async () => {
    const text = `
steps:
  first: { type: noop }
  other: { type: noop }
  test: { type: noop, depends_on: [first, other], on_fail: { goto: first } }
`;
    const script: Script = { test: ["fail", "ok"] };
    expect(await briefly(text, script, "other")).toEqual([
      expect.stringContaining("3 of 3 steps completed, 1 failure."),
      ...["", "other: completed", "  Attempt 1 completed in 0 ms."],
    ]);
    expect(await briefly(text, script, "first")).toEqual([
      expect.stringContaining("3 of 3 steps completed, 1 failure."),
      ...["", "first: completed", "  Attempt 1 completed in 0 ms.", "  Visit 2 began (goto from test)."],
      "  Attempt 2 completed in 0 ms.",
    ]);
    const { runAt, log } = await replayedTrial(text, script);
    const { stories } = readStories(recorded(runAt(), log));
    expect(stories.map(({ job }) => job.step.definition.id)).toEqual(["first", "test"]);
  });

  it("does not take an output for a child run because it looks like one", async () => {
    const output = { run_id: 5, outputs: {} };
    const text = await story("steps: { a: { type: noop } }", { a: [{ output }] }, "a");
    expect(text).toContain("Attempt 1 completed");
    expect(text).not.toContain("child run");
  });

  it("says what a failed step took down with it, and the words of equal failures once", async () => {
    const text = await story(RETRIED, { build: ["fail"] });
    expect(text).toMatch(/^Run 1 of release failed after 3\.0 s: 0 of 3 steps completed, 3 failures\.$/m);
    expect(text).toContain("Attempt 2 failed the same way after 0 ms (EXIT_1).");
    expect(text).toContain("- retry: no, no retries left (2 used).");
    expect(text).toContain("- fail: yes, no other rung applies.");
    expect(text).toContain("  The step failed.\n  after, last depend on it and were canceled.\n");
    expect(text).toContain("Left: 0 of 2 retries of visit 1");
  });

  it("tells a failure with the same exit code and other words as another one", async () => {
    const words = ["2 failed\nFAIL two\nFAIL three", "1 failed\nFAIL three"];
    const text = await story(RETRIED, {
      build: [...words, words[1]!].map((stderr) => ({ exit: 1, stderr })),
    });
    expect(text).toContain("Attempt 2 failed after 0 ms: exit code 1 (EXIT_1).");
    expect(text).toContain("Attempt 3 failed the same way after 0 ms (EXIT_1).");
    expect(text.match(/It printed on stderr: "FAIL three"/g)).toHaveLength(2);
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
    expect(text).toContain("- remediate: yes, run fix, then try again.");
    expect(text).toContain(
      "Remediation completed, so the step runs again.\n  Cost: repair 1 of 1 of this visit and loop 1 of 10.",
    );
    expect(text).toContain("- remediate: no, no remediation left in this visit (1 used).");
    expect(text).toContain("- goto: yes, back to setup.\n  Cost: loop 2 of 10.");
    expect(text).toContain("Visit 2 began (goto from build).");
    expect(text).toContain("Left: 1 of 1 repairs of visit 2, 8 of 10 loops.");
  });

  it("tells what an expression gave, and why one was refused", async () => {
    const file = `
steps:
  a: { type: noop }
  b: { type: noop, depends_on: [a], on_fail: { goto_js: "return visit < 2 ? 'a' : null", run_js: "return boom.x" } }
`;
    const text = await story(file, { b: ["fail", "ok"] });
    expect(text).toContain("Its on_fail.run_js failed after 0.0 ms (EXPRESSION_THREW): boom is not defined.");
    expect(text).toContain('Its on_fail.goto_js gave "a" in 0.0 ms.');
    expect(text).toContain("- goto: yes, back to a (goto_js).");
  });

  it("says that the loop budget ended the run", async () => {
    const file = `
routing: { max_loops: 1 }
steps:
  a: { type: noop }
  b: { type: noop, depends_on: [a], on_fail: { goto: a } }
`;
    const text = await story(file, { b: ["fail"] });
    expect(text).toContain(
      `  - goto: no, max_loops (1) is used up: 1 loop; the run ends here.
  - fail: yes, no other rung is tried.
  Everything unfinished in root was canceled.
  The step failed (LOOP_BUDGET_EXCEEDED): exit code 1 (EXIT_1), and max_loops (1) is used up: 1 loop.
  Left: 0 of 1 loops.`,
    );
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
  });

  it("tells of a hold and what it blocks", async () => {
    const file = `
unhandled: hold
steps: { build: { type: noop }, after: { type: noop, depends_on: [build] } }
`;
    const text = await story(file, { build: ["fail"] });
    expect(text).toContain("build: held\n");
    expect(text).toContain("- hold: yes, nothing else handles this failure.");
    expect(text).toContain("The step was held until a decision; what depends on it had to wait.");
    expect(text).toContain("after waits for it.");
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
    expect(text).toContain("Transition 2 leads to a.\n  Cost: loop 1 of 3.");
    expect(text).toContain("Transition 2 led here after fix completed.");
  });

  it("tells whose failure has the workspace, what was set aside for whom, and what could not be", async () => {
    const file =
      "workspace: {}\nsteps:\n  agent: { exec: edit, on_fail: { retry: { max: 1 } } }\n  other: { exec: edit }";
    const script: Script = { agent: ["fail"] };
    const { runAt, log } = await replayedTrial(file, script);
    const waiting = log.find(({ event }) => event.type === "retry.scheduled")!.seq;
    expect(explain(recorded(runAt(), log.slice(0, waiting)), { step: "other" }).lines.join("\n")).toContain(
      "It waits for the workspace, which agent keeps until its failure is handled.",
    );
    expect(await story(file, script)).toContain(
      "The changes of attempt 2 (1 file) were set aside before other started: patches/partial/j10000001_a2.patch.",
    );
    const gone = { facts: { lost: true, message: "the worker is gone" } };
    expect(await story(file, { agent: [gone, "ok"] })).toContain(
      "The changes of attempt 1 (1 file) were set aside before it started again: patches/partial/j10000001_a1.patch.",
    );
    const stuck = await story(file, script, undefined, { setAsides: ["fail"] });
    expect(stuck).toContain(
      "The changes of attempt 2 could not be set aside for other: a file cannot be removed.",
    );
    expect(stuck).toContain(
      "The step failed (RESET_FAILED): what attempt 2 of agent left could not be set aside: a file cannot be removed.",
    );
  });

  it("refuses an unknown step and lists those there are", async () => {
    await expect(story(RETRIED, {}, "biuld")).rejects.toMatchObject({
      code: "STEP_NOT_FOUND",
      hint: "Its steps: build, after, last.",
    });
  });

  it("prints no escape sequence of a step", async () => {
    const text = await story(RETRIED, { build: [{ exit: 7, stderr: "\x1b[31mred\x1b[0m" }, "ok"] });
    expect(text).toContain('It printed on stderr: "red".');
    expect(text).not.toContain("\x1b");
  });
});

describe("the brief story", () => {
  it("never tells a cost or a rung that passed, whatever words they are told in", async () => {
    const file = `
queue: { max_attempts: 2, classes: [application] }
steps:
  a: { type: noop }
  b: { type: noop, depends_on: [a], on_fail: { retry: { max: 1 }, run: [fix], goto: a, goto_max: 1 } }
  fix: { type: noop }
`;
    const { runAt, log } = await replayedTrial(file, { b: ["fail"] });
    const { stories } = readStories(recorded(runAt(), log));
    const sentences = stories.flatMap((each) => each.sentences);
    const lines = await briefly(file, { b: ["fail"] });
    expect(new Set(sentences.map(({ kind }) => kind))).toEqual(new Set(["fact", "why", "cost"]));
    for (const { kind, text } of sentences) if (kind !== "fact") expect(lines).not.toContain(`  ${text}`);
    expect(lines.join("\n")).not.toMatch(/Cost|: no, /);
  });

  const FAN = `
name: fan
steps:
  list: { type: noop, forEach: true }
  work: { type: script, content: "return foreach", depends_on: [list], on_fail: { retry: { max: 1 } } }
`;
  const indexOf = ({ variables }: { readonly variables: { readonly [name: string]: unknown } }): number =>
    (variables.foreach as { index: number }).index;
  const items = (count: number) => [{ output: Array.from({ length: count }, (_, n) => n) }];

  it("says what happened and leaves out classes, costs and rungs that did not act", async () => {
    expect(await briefly(RETRIED, { build: [{ exit: 7, stderr: "no space" }, "fail", "ok"] })).toEqual([
      "Run 1 of release completed in 3.0 s: 3 of 3 steps completed, 2 failures.",
      "",
      "build: completed",
      "  Attempt 1 failed after 0 ms: exit code 7 (EXIT_7).",
      '  It printed on stderr: "no space".',
      "  - retry: yes, EXIT_7: retry 1 of 2 in 1.5 s.",
      "  Attempt 2 failed after 0 ms: exit code 1 (EXIT_1).",
      "  - retry: yes, EXIT_1: retry 2 of 2 in 1.5 s.",
      "  Attempt 3 completed in 0 ms.",
    ]);
  });

  it("tells 25 jobs that failed alike as one, with an example, in a screenful", async () => {
    const lines = await briefly(FAN, { list: items(25), work: () => ({ exit: 3, stderr: "boom" }) });
    expect(lines).toEqual([
      "Run 1 of fan failed after 0 ms: 1 of 26 steps completed, 50 failures.",
      "",
      "25 items of work failed alike: 0, 1, 2, 3, 4, 5 and 19 more. For example work@list[0]:",
      "  Attempt 1 failed after 0 ms: exit code 3 (EXIT_3).",
      '  It printed on stderr: "boom".',
      "  - retry: yes, EXIT_3: retry 1 of 1.",
      "  Attempt 2 failed the same way after 0 ms (EXIT_3).",
      "  The step failed.",
    ]);
  });

  it("keeps apart what failed otherwise, or ended otherwise", async () => {
    const lines = await briefly(FAN, {
      list: items(4),
      work: (assignment) => {
        const index = indexOf(assignment);
        if (index === 3) return assignment.attempt === 1 ? { exit: 3 } : "ok";
        return { exit: index === 1 ? 4 : 3 };
      },
    });
    expect(lines.filter((line) => /^\S.*:/.test(line)).slice(1)).toEqual([
      "3 items of work failed, in 2 ways:",
      "work@list[3]: completed",
    ]);
  });

  it("stays a screenful where every job failed otherwise, and says what it leaves out", async () => {
    const lines = await briefly(FAN, {
      list: items(20),
      work: (assignment) => ({ exit: 10 + indexOf(assignment) }),
    });
    expect(lines.length).toBeLessThan(60);
    expect(lines.at(-1)).toBe("  … and 12 more: 8, 9, 10, 11, 12, 13 and 6 more");
  });

  it("shortens the story of a job that went round many times", async () => {
    const file = `
routing: { max_loops: 12 }
steps:
  a: { type: noop }
  b: { type: noop, depends_on: [a], on_fail: { goto: a } }
`;
    const lines = await briefly(file, { b: ["fail"] }, "b");
    expect(lines.filter((line) => /^ {2}… \d+ more …$/.test(line))).toHaveLength(1);
    expect(lines.length).toBeLessThan(20);
  });

  it.each([
    ["work@list[1]", "work@list[1]"],
    ["work@root/list[1]", "work@list[1]"],
    ["10000003", "work@list[1]"],
    ["work", "3 items of work failed alike"],
  ])("tells of the job that is named: %s", async (name, told) => {
    const lines = await briefly(FAN, { list: items(3), work: () => "fail" }, name);
    expect(lines.filter((line) => /^\S.*:/.test(line)).slice(1)).toEqual([expect.stringContaining(told)]);
  });

  it.each([
    [
      "work@list[9]",
      "run 1 has no work in the scope list[9]",
      "Its jobs: work@list[0] (10000002), work@list[1] (10000003).",
    ],
    ["wrok@list[0]", "run 1 has no step wrok@list[0]", "Its steps: list, work."],
  ])("refuses what names no job: %s", async (name, message, hint) => {
    const asked = briefly(FAN, { list: items(2), work: () => "fail" }, name);
    await expect(asked).rejects.toMatchObject({ code: "STEP_NOT_FOUND", message, hint });
  });

  it("says that a step has no job where its fan-out was not opened", async () => {
    const lines = await briefly(FAN, { list: ["fail"] }, "work");
    expect(lines.at(-1)).toBe("work has no job: its fan-out was not opened.");
  });
});
