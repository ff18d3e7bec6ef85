import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { eventually } from "./daruma-process.js";
import { repositoryRoot } from "./repository-root.js";

const DEADLINE_MS = 200_000;
let started = 0;
const folder = mkdtempSync(join(tmpdir(), "daruma-leaks-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Vitest over test/fixtures/leaks, and the process that its test has started. */
async function startRunner(test: string): Promise<{ runner: ChildProcess; left: number }> {
  started += 1;
  const pidFile = join(folder, `pid-${started}`);
  const vitest = join(repositoryRoot, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--config", "test/fixtures/leaks/vitest.config.mjs", "-t", test];
  const runner = spawn(process.execPath, args, {
    cwd: repositoryRoot,
    env: { ...process.env, PID_FILE: pidFile },
    stdio: "ignore",
    detached: true,
  });
  const left = await eventually("the process of the fixture", () =>
    existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8")) || null : null,
  );
  return { runner, left };
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("what a test has started", { timeout: 3 * DEADLINE_MS }, () => {
  it("is gone when the test fails before it cleans up", async () => {
    const { runner, left } = await startRunner("fails before it has ended what it started");
    const exitCode = await new Promise((resolve) => runner.once("exit", resolve));
    expect(exitCode).toBe(1);
    expect(lives(left)).toBe(false);
  });

  // A terminal sends Ctrl-C to all processes of its foreground.
  it("is gone when the tests are interrupted", async () => {
    const { runner, left } = await startRunner("hangs");
    expect(lives(left)).toBe(true);
    process.kill(-(runner.pid ?? 0), "SIGINT");
    await eventually("its end", () => !lives(left));
    runner.kill("SIGKILL");
  });
});
