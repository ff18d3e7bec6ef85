import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe("declared files, by the command line", () => {
  it("order the jobs, and their sizes and hashes are recorded with the attempt", async () => {
    cli.write("raw.csv", "1\n2\n");
    const { exitCode, report } = await cli.runJson(`
name: diamond
files:
  - { name: raw, path: raw.csv }
  - { name: "part_{i}", path: "part-{i}.csv", parameters: { i: "1:2" } }
  - { name: sum, path: sum.csv }
jobs:
  - { name: sum, command: "cat part-1.csv part-2.csv > sum.csv", input_files: ["part_{i}"], output_files: [sum] }
  - { name: "part_{i}", command: "head -{i} raw.csv | tail -1 > part-{i}.csv", parameters: { i: "1:2" }, input_files: [raw], output_files: ["part_{i}"] }
`);
    expect(exitCode).toBe(0);
    expect(readFileSync(join(cli.path, "sum.csv"), "utf8")).toBe("1\n2\n");
    const { stdout } = await cli.daruma("job", "show", String(report.run_id), "sum", "--json");
    expect(JSON.parse(stdout).attempt_history[0].files).toMatchObject([
      { role: "input", path: "part-1.csv", bytes: 2, sha256: sha256("1\n") },
      { role: "input", path: "part-2.csv", bytes: 2, sha256: sha256("2\n") },
      { role: "output", path: "sum.csv", bytes: 4, sha256: sha256("1\n2\n") },
    ]);
  });

  it("that are missing are failures with codes of their own: before the step begins, and after it succeeded", async () => {
    const { exitCode, report } = await cli.runJson(`
name: missing
steps:
  reads: { exec: "touch began", files: { inputs: nowhere.csv }, on_fail: { retry: { max: 2 } } }
  writes: { exec: "true", files: { outputs: never.csv }, on_fail: { retry: { max: 1 } } }
`);
    expect(exitCode).toBe(1);
    expect(
      report.jobs.map(({ step, attempts, error }) => [step, attempts, error?.code, error?.class]),
    ).toEqual([
      ["reads", 1, "INPUT_MISSING", "deterministic_contract"],
      ["writes", 2, "OUTPUT_MISSING", "application"],
    ]);
    expect(report.jobs[0]!.error!.message).toBe("the input file nowhere.csv is not there");
    expect(report.jobs[1]!.error!.message).toBe("the step ended without its output file never.csv");
    expect(existsSync(join(cli.path, "began"))).toBe(false);
  });

  it("that are pipes or devices are recorded without being read: they would never come to an end", async () => {
    execFileSync("mkfifo", [join(cli.path, "pipe")]);
    const { exitCode, report } = await cli.runJson(`
name: endless
steps:
  reads: { exec: "true", files: { inputs: [pipe, /dev/zero], outputs: pipe } }
`);
    expect(exitCode).toBe(0);
    const { stdout } = await cli.daruma("job", "show", String(report.run_id), "reads", "--json");
    expect(JSON.parse(stdout).attempt_history[0].files).toMatchObject([
      { role: "input", path: "pipe", bytes: null, sha256: null },
      { role: "input", path: "/dev/zero", bytes: null, sha256: null },
      { role: "output", path: "pipe", bytes: null, sha256: null },
    ]);
  });
});
