import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "daruma-conformance-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** build fails until its fourth attempt: retried, repaired, sent back, then well. */
const WORKFLOW = `secrets: [DEPLOY_TOKEN]
steps:
  setup: { exec: "true" }
  build:
    exec: "echo x >> count; if test $(wc -l < count) -lt 4; then echo $DEPLOY_TOKEN >&2; exit 1; fi"
    depends_on: setup
    on_fail:
      retry: { max: 1, backoff: { delay_ms: 20 } }
      run_js: "return error.stderr.length > 0 ? ['fix'] : []"
      goto_js: "return error.stderr === 'no' ? error.stderr : 'setup'"
  fix: { exec: "true", start: routed }
`;

async function run(...flags: string[]) {
  const own = await mkdtemp(join(folder, "run-"));
  const file = join(own, "w.yaml");
  await writeFile(file, WORKFLOW);
  return runCli(["run", file, "--output-dir", join(own, "out"), ...flags], {
    DEPLOY_TOKEN: "correct-horse-battery",
  });
}

/** The rungs that the summary lists under "failure routes taken", in order. */
function routesOf(stdout: string): string[] {
  return [...stdout.matchAll(/^ *\+\S+ \S+ +build +\d+ +(\w+)/gm)].map((match) => match[1] ?? "");
}

describe("the command line", () => {
  it("the summary lists the failure routes taken with time and attempt, and the exit tells the outcome", {
    tags: ["V55", "V74"],
  }, async () => {
    const { exitCode, stdout } = await run();
    expect(exitCode).toBe(0);
    const lines = stdout
      .split("\n")
      .slice(stdout.split("\n").findIndex((line) => line.startsWith("failure routes taken")) + 2);
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^ *\+\S+ \S+ +build +1 +retry /),
      expect.stringMatching(/^ *\+\S+ \S+ +build +2 +remediate +fix /),
      expect.stringMatching(/^ *\+\S+ \S+ +build +3 +goto +setup /),
    ]);
  });

  it("--debug shows expressions with timing, backoff decisions, transitions and loop counters, redacted", {
    tags: ["V56"],
  }, async () => {
    const { exitCode, stdout, stderr } = await run("--debug");
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/on_fail\.run_js gave \["fix"\] in [\d.]+ ms/);
    expect(stderr).toMatch(/backoff 20 ms, due /);
    expect(stderr).toMatch(/goto\.taken: build, attempt 3, .*to setup/);
    expect(stderr).toMatch(/loop 2 of 10$/m);
    expect(stdout + stderr).not.toContain("correct-horse-battery");
  });

  it("the flags reach the run", { tags: ["V52", "V53", "V54", "V74"] }, async () => {
    const off = await run("--no-failure-routing");
    expect(off.exitCode).toBe(1);
    expect(off.stdout).not.toContain("failure routes taken");
    const few = await run("--on-fail-max-loops", "0");
    expect(few.exitCode).toBe(1);
    expect(few.stdout + few.stderr).toContain("LOOP_BUDGET_EXCEEDED");
    const never = await run("--retry-max", "0");
    expect(routesOf(never.stdout)).toEqual(["remediate", "goto", "remediate"]);
    const often = await run("--retry-max", "3");
    expect(routesOf(often.stdout)).toEqual(["retry", "retry", "retry"]);
  });
});
