import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { commandLine } from "../support/cli.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-scarce-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("a process that may open few files ends its run with a verdict, not with a crash", async () => {
  const steps = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`s${index}`, { exec: "sleep 0.1; env true" }]),
  );
  const file = join(folder, "wide.yaml");
  writeFileSync(file, JSON.stringify({ name: "wide", steps }));
  const run = `ulimit -n 100; "$1" "$2" run "$3" --json --max-parallel 200 --output-dir "$4"`;
  const { stdout } = await promisify(execFile)(
    "sh",
    ["-c", `${run} || true`, "sh", process.execPath, commandLine, file, join(folder, "out")],
    {
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const report = JSON.parse(stdout) as {
    status: string;
    jobs: { status: string; error: { code: string } | null }[];
  };
  expect(["completed", "failed"]).toContain(report.status);
  const codes = new Set(
    report.jobs.flatMap(({ status, error }) => (status === "failed" ? [error?.code] : [])),
  );
  expect([...codes].filter((code) => code !== "SPAWN_ERROR" && code !== "LOG_FAILED")).toEqual([]);
});
