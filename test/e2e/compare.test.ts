import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

describe("compare on the command line", () => {
  it("prints what differs from the last completed run, logs side by side", { tags: ["S4"] }, async () => {
    const flow = (exec: string): string => `name: nightly\nsteps: { build: { exec: "${exec}" } }\n`;
    await cli.runJson(flow("echo built"));
    await cli.runJson(flow("echo disk full >&2; exit 3"));
    const { exitCode, stdout } = await cli.daruma("compare", "2");
    const lines = stdout.split("\n");
    expect(exitCode).toBe(0);
    expect(lines[0]).toMatch(/^run 2 of nightly: failed, /);
    expect(lines[1]).toMatch(/^with run 1 of nightly: completed, /);
    expect(lines.slice(2, 5)).toEqual(["definition:", "  build: exec", "inputs: the same"]);
    expect(stdout).toMatch(/ended otherwise +run 2 +run 1\nbuild +failed +completed\n/);
    expect(stdout).toMatch(
      /run 2: stderr of attempt 1 +\| run 1: stdout of attempt 1\ndisk full +\| built\n/,
    );
    const { value } = await cli.json<{ other: { run_id: number } }>("compare", "2", "1");
    expect(value).toMatchObject({
      run: { run_id: 2 },
      other: { run_id: 1 },
      logs: { run: { lines: ["disk full"] } },
    });
    const none = await cli.daruma("compare", "1");
    expect([none.exitCode, none.stderr]).toEqual([
      2,
      expect.stringContaining("no run of nightly completed before run 1"),
    ]);
  });
});
