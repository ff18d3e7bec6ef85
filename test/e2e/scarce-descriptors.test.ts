import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { commandLine } from "../support/cli.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-scarce-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The command line in a process that may open only so many files. */
async function withFiles(limit: number, args: readonly string[]) {
  const script = `ulimit -n ${limit}; "$@"; echo "exit $?"`;
  const all = ["-c", script, "sh", process.execPath, commandLine, ...args];
  const { stdout, stderr } = await promisify(execFile)("sh", all, { maxBuffer: 64 * 1024 * 1024 });
  const [, told, exitCode] = /^(.*)exit (\d+)\n$/s.exec(stdout)!;
  return { stdout: told!, stderr, exitCode: Number(exitCode) };
}

it("as few files as daruma needs are enough for as many steps as there are", async () => {
  const steps = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`s${index}`, { exec: "sleep 0.1; env true" }]),
  );
  const file = join(folder, "wide.yaml");
  writeFileSync(file, JSON.stringify({ name: "wide", steps }));
  const args = ["run", file, "--json", "--max-parallel", "200", "--output-dir", join(folder, "out")];
  const { stdout, exitCode } = await withFiles(256, args);
  const { status, jobs } = JSON.parse(stdout) as { status: string; jobs: { attempts: number }[] };
  expect([exitCode, status]).toEqual([0, "completed"]);
  expect(jobs.every(({ attempts }) => attempts === 1)).toBe(true);
});

it.each([24, 64, 255])("fewer are refused in one line: %i", async (limit) => {
  const { stdout, stderr, exitCode } = await withFiles(limit, ["list", "--output-dir", folder]);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 5 });
  expect(stderr).toBe(
    `error FILE_LIMIT: this process may open only ${limit} files; daruma needs 256. Raise the limit first: ulimit -n 1024\n`,
  );
});

it("and as JSON where that is asked for", async () => {
  const { stdout, stderr } = await withFiles(64, ["list", "--json"]);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "FILE_LIMIT" } });
});
