import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

const MENDED = `
name: mended
steps:
  review:
    exec: |
      echo "$(cat findings 2>/dev/null | wc -l) repaired" >&2
      test "$(cat findings 2>/dev/null | wc -l)" -ge 3
    on_fail: { run: { steps: [mend], max: 3 } }
  mend: { exec: "echo mended >> findings" }
`;

describe("several repairs in one visit", () => {
  it("lead from review to mend and back until the review passes; explain counts them", async () => {
    const { exitCode, report } = await cli.runJson(MENDED);
    expect(exitCode).toBe(0);
    expect(report.jobs.map(({ step, attempts, visits }) => [step, attempts, visits])).toEqual([
      ["review", 4, 1],
      ["mend", 3, 3],
    ]);
    const { stdout: story } = await cli.daruma("explain", String(report.run_id), "review", "--full");
    expect(story).toContain("Cost: repair 3 of 3 of this visit and loop 3 of 10.");
    expect(story).toContain("Left: 0 of 3 repairs of visit 1, 7 of 10 loops.");
    const { stdout: picture } = await cli.daruma("graph", cli.write("flow.yaml", MENDED));
    expect(picture).toContain('"on fail: run, max 3"');
  });

  it("have one bound, and only after a failure", async () => {
    const two = cli.write("two.yaml", MENDED.replace("max: 3 }", "max: 3 }, run_max: 2"));
    const refused = await cli.daruma("validate", two);
    expect(refused.exitCode).toBe(2);
    expect(refused.stdout + refused.stderr).toContain("`run.max` and `run_max` mean the same thing");
    const after = cli.write("after.yaml", MENDED.replace("on_fail", "on_success"));
    expect((await cli.daruma("validate", after)).exitCode).toBe(2);
  });
});

describe("a repair that failed", () => {
  it("is not offered beside the step that it was to repair: retry, reset, a glob and the inbox name that one", async () => {
    const { exitCode, report } = await cli.runJson(
      "name: broken\nsteps:\n  test: { exec: exit 1, on_fail: { run: [mend] } }\n  mend: { exec: 'echo cannot >&2; exit 2' }\n",
    );
    expect(exitCode).toBe(1);
    const run = String(report.run_id);
    const { stdout } = await cli.daruma("show", run);
    expect(stdout).toContain("mend failed on attempt 1: exit code 2: cannot (EXIT_2)");
    expect(stdout).toMatch(new RegExp(`^ +daruma retry ${run} test `, "m"));
    for (const command of [
      ["retry", run, "*"],
      ["reset", run],
    ]) {
      const planned = await cli.daruma(...command, "--dry-run");
      expect(planned.stdout).toContain("test: failed -> ready");
      expect(planned.stdout).not.toContain("mend:");
    }
    const inbox = (await cli.daruma("inbox")).stdout;
    expect(inbox).toContain("broken/test");
    expect(inbox).not.toContain("broken/mend");
  });
});
