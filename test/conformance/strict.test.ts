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

  it("leaves a run alone in which nothing was handled", async () => {
    const run = await real.run("steps: { a: { exec: 'true' } }", { start: { strict: true } });
    expect([run.report.handled_in_children, exitCodeOfRun(run.report)]).toEqual([[], 0]);
  });
});
