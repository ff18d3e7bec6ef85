import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliResult, runCli } from "../support/cli.js";

/** Retries and gotos by turns: a retry is past max_loops while three of five loops are taken. */
const FILE = `name: loops
routing: { max_loops: 5 }
steps:
  setup: { exec: "true" }
  test:
    exec: echo boom >&2; exit 7
    depends_on: [setup]
    on_fail: { retry: { max: 1 }, goto: setup }
  after: { exec: "true", depends_on: [test] }
`;
const USED_UP = "max_loops (5) is used up: 3 retries + 3 loops";
const MESSAGE = `boom (EXIT_7), and ${USED_UP}`;

let folder = "";
let told: CliResult = { exitCode: null, stdout: "", stderr: "" };
const daruma = async (...args: string[]): Promise<string> =>
  (await runCli([...args, "--output-dir", join(folder, "state")])).stdout;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daruma-loops-"));
  await writeFile(join(folder, "loops.yaml"), FILE);
  told = await runCli(["run", join(folder, "loops.yaml"), "--debug", "--output-dir", join(folder, "state")]);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** What each line says of loops, in order, without the rest of it. */
function loopsIn(text: string, pattern: RegExp): string[] {
  return text.split("\n").flatMap((line) => pattern.exec(line)?.slice(1) ?? []);
}

describe("one run past max_loops, wherever it is told", () => {
  it("the live lines count the loops of the scope, and the last names the failure and both numbers", () => {
    expect(told.exitCode).toBe(1);
    expect(loopsIn(told.stderr, /test attempt \d failed.*\((loop \d of \d)\)$/)).toEqual([
      "loop 1 of 5",
      "loop 2 of 5",
      "loop 3 of 5",
    ]);
    expect(told.stderr).toContain(
      `test attempt 7 failed like attempt 1 (EXIT_7) — ${USED_UP}; the run ends here; the step failed (LOOP_BUDGET_EXCEEDED)`,
    );
    expect(told.stdout).toContain(`test failed on attempt 7: ${MESSAGE} (LOOP_BUDGET_EXCEEDED)`);
  });

  it("--debug gives the same loops, and the retries beside them", () => {
    expect(
      loopsIn(told.stderr, /debug: (?:goto\.taken.*; (loop.*)|.*max_loops: (.*))$/).filter(Boolean),
    ).toEqual([
      "1 retry + 0 loops of 5",
      "loop 1 of 5",
      "2 retries + 1 loop of 5",
      "loop 2 of 5",
      "3 retries + 2 loops of 5",
      "loop 3 of 5",
    ]);
    expect(told.stderr).toContain(`debug: test attempt 7: retry: no, ${USED_UP}`);
  });

  it("explain tells the same costs, the same end, and what is left of the same count", async () => {
    const story = await daruma("explain", "last", "--full");
    expect(loopsIn(story, /Cost: (?:.*max_loops: (.*)\.|(loop.*)\.)$/).filter(Boolean)).toEqual([
      "1 retry + 0 loops of 5",
      "loop 1 of 5",
      "2 retries + 1 loop of 5",
      "loop 2 of 5",
      "3 retries + 2 loops of 5",
      "loop 3 of 5",
    ]);
    expect(story).toContain(
      `  - retry: no, ${USED_UP}; the run ends here.\n  - fail: yes, no other rung is tried.\n`,
    );
    expect(story).toContain(`  The step failed (LOOP_BUDGET_EXCEEDED): ${MESSAGE}.\n`);
    expect(story).toContain(
      "  Left: 0 of 1 retries of visit 4 (max_loops: 3 retries + 3 loops of 5), 2 of 5 loops.\n",
    );
  });

  it("the log and the report have the same numbers", async () => {
    const events = (await daruma("events", "last", "--json"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; loop?: number; message?: string });
    expect(events.filter(({ type }) => type === "goto.taken").map(({ loop }) => loop)).toEqual([1, 2, 3]);
    expect(events.filter(({ type }) => type === "retry.scheduled")).toHaveLength(3);
    expect(events.find(({ type }) => type === "loop.exceeded")).toMatchObject({
      transition: "retry",
      count: 6,
      retries: 3,
      max: 5,
    });
    const report = JSON.parse(await daruma("show", "last", "--json")) as {
      error: unknown;
      jobs: { step: string; error: unknown }[];
    };
    expect(report.error).toMatchObject({ code: "LOOP_BUDGET_EXCEEDED", message: `test: ${MESSAGE}` });
    expect(report.jobs.find(({ step }) => step === "test")!.error).toMatchObject({
      code: "LOOP_BUDGET_EXCEEDED",
      message: MESSAGE,
    });
  });
});
