import { describe, expect, it } from "vitest";
import { RealRuns } from "../support/real-run.js";

const real = new RealRuns();
const TAIL = 8 * 1_024;

/** Ten times as much as is kept, numbered so that every cut tells where it was made. */
const LINES = Array.from({ length: 10_000 }, (_, n) => String(n + 1)).join("\n");
const PRINTED = `${LINES}\n`;

describe("what a failed attempt printed", () => {
  it("is kept to its last 8 KB, the same in expressions, scripts and the report", {
    tags: ["V26"],
  }, async () => {
    const kept = PRINTED.slice(-TAIL);
    const isKept = (text: string) =>
      `${text}.length === ${TAIL} && ${text}.startsWith(${JSON.stringify(kept.slice(0, 40))}) && ${text}.endsWith("9999\\n10000\\n")`;
    const transition = { from: "bad", on: "failure" };
    const run = await real.run(
      JSON.stringify({
        steps: {
          bad: { exec: "seq 10000; seq 10000 >&2; exit 4" },
          hand: { type: "script", content: "return failure" },
          never: { type: "noop" },
        },
        transitions: [
          {
            ...transition,
            to: "hand",
            priority: 1,
            when: `${isKept("error.stdout")} && ${isKept("error.stderr")}`,
          },
          { ...transition, to: "never", priority: 2 },
        ],
      }),
    );
    expect(run.job("never").status).toBe("skipped");
    expect(run.job("hand").output).toMatchObject({ stdout: kept, stderr: kept, exitCode: 4 });
    expect(run.job("bad").error).toMatchObject({ stdout_tail: kept, stderr_tail: kept });
  });
});

describe("the variable `failure` of a script", () => {
  it("is that of templates and expressions, with the envelope as `context`", async () => {
    const run = await real.run(`steps:
  bad: { exec: "echo no >&2; exit 4" }
  told: { exec: 'printf %s {{ failure | json | sh }}' }
  hand: { type: script, content: "return failure", depends_on: [told] }
  again: { exec: "exit 5" }
  last: { type: script, content: "return failure" }
transitions:
  - { from: bad, to: told, on: failure }
  - { from: again, to: last, on: failure }`);
    const seen = run.job("told").output as { [name: string]: unknown };
    const { context, ...script } = run.job("last").output as { [name: string]: unknown };
    expect(Object.keys(script).toSorted()).toEqual(Object.keys(seen).toSorted());
    expect(seen).toMatchObject({ ...run.job("bad").error, exitCode: 4, stderr: "no\n", edge: 1 });
    expect(script).toMatchObject({ ...run.job("again").error, exitCode: 5, edge: 2 });
    expect(context).toMatch(/^DARUMA_FAILURE_ROUTE_CONTEXT v1\n/);
  });
});

describe("the stack trace", () => {
  it("of a script that threw tells the lines of the script", { tags: ["W14"] }, async () => {
    const run = await real.run(`steps:
  sum:
    type: script
    content: |
      const rows = inputs["rows" + ""];
      return rows.length;`);
    expect(run.job("sum").error).toMatchObject({
      code: "SCRIPT_ERROR",
      stack_trace: expect.stringMatching(/^TypeError: .*\n +at .*script:2/),
    });
    expect(run.report.error!.stack_trace).toBe(run.job("sum").error!.stack_trace);
  });

  it("of a function that threw is the function's; of a command there is none", async () => {
    const run = await real.run(`steps: { own: { type: breaks }, sh: { exec: "exit 1" } }`, {
      actions: {
        breaks: () => {
          throw new RangeError("too far");
        },
      },
    });
    expect(run.job("own").error!.stack_trace).toMatch(/^RangeError: too far\n +at /);
    expect(run.job("sh").error!.stack_trace).toBeNull();
  });
});
