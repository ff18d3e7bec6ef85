import { describe, expect, it } from "vitest";
import { CliFolder, FAILING } from "../support/cli-folder.js";

const cli = new CliFolder();

describe("--at on the command line", () => {
  it("shows, explains and draws a run as it was after an event", { tags: ["S3"] }, async () => {
    const { report } = await cli.runJson(FAILING);
    const run = String(report.run_id);
    const shown = await cli.daruma("show", run, "--at", "1");
    expect(shown.stdout).toMatch(/^as it was after event 1, [-0-9]+ [:0-9]+ UTC\n/);
    expect(shown.stdout).toMatch(/build +blocked/);
    const { value } = await cli.json<{ status: string; at: { seq: number } }>("show", run, "--at", "2");
    expect(value).toMatchObject({ status: "running", at: { seq: 2 } });
    const explained = await cli.daruma("explain", run, "--at", "3");
    expect([explained.exitCode, explained.stdout]).toEqual([0, expect.not.stringContaining("EXIT_3")]);
    expect((await cli.daruma("graph", run, "--at", "1")).stdout).toContain("flowchart");
    const beyond = await cli.daruma("show", run, "--at", "999");
    expect([beyond.exitCode, beyond.stderr]).toEqual([
      2,
      expect.stringMatching(/run \d+ has no event 999: its last one is \d+\nhint: See `daruma events \d+`\./),
    ]);
    expect((await cli.daruma("graph", cli.write("flow.yaml", FAILING), "--at", "1")).exitCode).toBe(2);
  });
});
