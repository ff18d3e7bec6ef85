import { describe, expect, it } from "vitest";
import { exitCodeOfRun } from "../../src/cli/terminal/exit-codes.js";
import { RealRuns } from "../support/real-run.js";

const real = new RealRuns();

/** Its first step fails, and nothing of that is mended. */
const CHILD = `name: release
steps:
  test: { exec: exit 7 }
  publish: { exec: "true", depends_on: [test] }
  fallback: { exec: "true" }
transitions: [{ from: test, to: fallback, on: failure, then: skip }]
`;
const PARENT = "name: parent\nsteps: { ship: { type: workflow, file: child.yaml } }\n";

describe("--strict", () => {
  it("is recorded in the run and changes its exit code, not its status or what is done", async () => {
    const plain = await real.run(CHILD);
    const strict = await real.run(CHILD, { start: { strict: true } });
    expect([plain.report.strict, strict.report.strict]).toEqual([false, true]);
    for (const run of [plain, strict]) {
      expect(run.report.status).toBe("completed");
      expect(run.report.handled_failures).toMatchObject([{ step: "test", by: "fallback", then: "skip" }]);
      expect(run.report.skipped_by_failure).toMatchObject([{ step: "publish", failure: "test" }]);
    }
    expect([exitCodeOfRun(plain.report), exitCodeOfRun(strict.report)]).toEqual([0, 1]);
    expect((await strict.daruma.store.readRun(strict.report.run_id))?.options.strict).toBe(true);
  });

  it("is inherited by child runs, and what they handled counts for the parent", async () => {
    real.write("child.yaml", CHILD);
    const run = await real.run(PARENT, { start: { strict: true } });
    expect(run.report.status).toBe("completed");
    const [child] = await run.daruma.store.listRuns({ parentRun: run.report.run_id });
    expect(child?.options.strict).toBe(true);
    expect(run.report.handled_failures).toEqual([]);
    expect(run.report.handled_in_children).toEqual([
      {
        ...{
          run_id: child!.id,
          workflow: "release",
          status: "completed",
          failures: 1,
          steps: "test",
          decided: [],
        },
        ...{ job_id: run.job("ship").id, under_job_id: run.job("ship").id },
      },
    ]);
    expect(exitCodeOfRun(run.report)).toBe(1);
    const plain = await real.run(PARENT);
    expect([exitCodeOfRun(plain.report), plain.report.handled_in_children.length]).toEqual([0, 1]);
  });

  it.each([
    ["its step", "steps: { a: { exec: exit 1, continue_on_failure: true } }", "completed", 1],
    [
      "a join",
      `steps:
  list: { type: noop, output: [1, 2], forEach: true }
  work: { exec: "test {{ foreach.index }} = 1", depends_on: list }
  sum: { type: noop, depends_on: work, fanout: reduce, join: any }`,
      "completed",
      1,
    ],
    [
      "a transition, and a finally step failed",
      "finally: [z]\nsteps: { a: { exec: exit 1, on_fail: { edge: { to: b } } }, b: { exec: 'true' }, z: { exec: exit 3 } }",
      "failed",
      1,
    ],
    [
      "its step, and another is held",
      "unhandled: hold\nsteps: { a: { exec: exit 1, continue_on_failure: true }, b: { exec: exit 1 } }",
      "held",
      3,
    ],
  ])("with a failure that was handled by %s", async (_, text, status, exitCode) => {
    const run = await real.run(text, { start: { strict: true } });
    expect(run.report.handled_failures).toHaveLength(1);
    expect([run.report.status, exitCodeOfRun(run.report)]).toEqual([status, exitCode]);
  });

  it("with a failure that was handled, and then a cancel", async () => {
    const daruma = await real.start();
    const text =
      "steps: { a: { exec: exit 1, continue_on_failure: true }, b: { exec: sleep 600, kill_grace_ms: 50 } }";
    const { runId, result } = await daruma.start(real.write("canceled.yaml", text), { strict: true });
    await expect
      .poll(async () => (await daruma.store.readJobs(runId)).map(({ handled }) => handled))
      .toEqual([true, false]);
    await daruma.cancel(runId, "enough");
    const report = await result;
    expect([report.status, report.handled_failures.length, exitCodeOfRun(report)]).toEqual([
      "canceled",
      1,
      4,
    ]);
  });

  it("leaves a run alone in which nothing was handled", async () => {
    const run = await real.run("steps: { a: { exec: 'true' } }", { start: { strict: true } });
    expect([run.report.handled_in_children, exitCodeOfRun(run.report)]).toEqual([[], 0]);
  });
});
