import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

describe("needs: settled and fail_if, by the command line", () => {
  it("retry a success that its output speaks against, and run the report after what failed for good", async () => {
    const { exitCode, report } = await cli.runJson(`
name: quality
steps:
  train:
    exec: "echo x >> tries; echo \\"{\\\\\\"score\\\\\\": $(wc -l < tries)}\\""
    fail_if: "output.score < 2"
    on_fail: { retry: { max: 2 } }
  publish: { exec: "exit 4", depends_on: [train] }
  report: { exec: "echo '{{ outputs.train.score }}'", depends_on: [publish], needs: settled }
`);
    expect(exitCode).toBe(1);
    expect(
      report.jobs.map(({ step, status, attempts, error }) => [step, status, attempts, error?.code ?? null]),
    ).toEqual([
      ["train", "completed", 2, null],
      ["publish", "failed", 1, "EXIT_4"],
      ["report", "completed", 1, null],
    ]);
    expect(report.jobs[2]!.output).toBe(2);
    const { stdout } = await cli.daruma("explain", String(report.run_id), "train", "--full");
    expect(stdout).toContain("fail_if is true: output.score < 2");
  });
});
