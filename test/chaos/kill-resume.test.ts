import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endProcessesWithToken } from "../../src/run/process/attempt-processes.js";
import { Random } from "../sim/random.js";
import { commandLine, runCli } from "../support/cli.js";
import type { LoggedLine } from "../support/recorded-run.js";
import { chooseSeed } from "../support/seed.js";

const STEPS = 200;
const KILLS = Number(process.env.KILLS ?? 3);
const SEED = chooseSeed();

/** Chains beside each other with joins between them; every step says what it got and remembers that it ran. */
function workflowText(ran: string): string {
  const steps: { [id: string]: unknown } = {};
  for (let index = 0; index < STEPS; index += 1) {
    const before = [index - 4, ...(index % 7 === 0 ? [index - 9] : [])]
      .filter((at) => at >= 0)
      .map((at) => `s${at}`);
    const got = before.length > 0 ? `{{ outputs.s${index - 4} }}` : "0";
    steps[`s${index}`] = {
      exec: `echo s${index} >> ${ran}; echo $(( (${got} * 31 + ${index}) % 100003 ))`,
      ...(before.length > 0 ? { depends_on: before } : {}),
    };
  }
  return JSON.stringify({ name: "kill", steps });
}

interface World {
  readonly folder: string;
  readonly file: string;
  readonly ran: string;
}

function makeWorld(): World {
  const folder = mkdtempSync(join(tmpdir(), "daruma-kill-"));
  const file = join(folder, "kill.yaml");
  const ran = join(folder, "ran");
  writeFileSync(file, workflowText(ran));
  writeFileSync(ran, "");
  return { folder, file, ran };
}

/** Start the run and kill the engine with -9 after a while. */
async function startAndKill({ folder, file }: World, afterMs: number): Promise<void> {
  const child = spawn(
    process.execPath,
    [commandLine, "run", file, "--quiet", "--max-parallel", "4", "--output-dir", join(folder, "out")],
    { stdio: "ignore" },
  );
  const exited = new Promise((resolve) => child.once("exit", resolve));
  await Promise.race([delay(afterMs), exited]);
  child.kill("SIGKILL");
  await exited;
}

async function readLog({ folder }: World): Promise<LoggedLine[]> {
  const { stdout } = await runCli(["events", "1", "--json", "--output-dir", join(folder, "out")]);
  return stdout
    .split("\n")
    .filter((line) => line.startsWith('{"seq"'))
    .map((line) => JSON.parse(line) as LoggedLine);
}

async function readOutputs({ folder }: World): Promise<{ [step: string]: unknown }> {
  const { stdout } = await runCli(["show", "1", "--json", "--output-dir", join(folder, "out")]);
  const jobs = (JSON.parse(stdout) as { jobs: { step: string; output: unknown }[] }).jobs;
  return Object.fromEntries(jobs.map(({ step, output }) => [step, output]));
}

describe("kill -9 of the command line at any instant", () => {
  let expected: { [step: string]: unknown };
  let wholeRunMs: number;

  beforeAll(async () => {
    const world = makeWorld();
    const startedAt = performance.now();
    const run = await runCli([
      "run",
      world.file,
      "--quiet",
      "--max-parallel",
      "4",
      "--output-dir",
      join(world.folder, "out"),
    ]);
    wholeRunMs = performance.now() - startedAt;
    expect(run.exitCode, run.stderr).toBe(0);
    expected = await readOutputs(world);
    rmSync(world.folder, { recursive: true });
  });

  const worlds: World[] = [];
  afterAll(() => {
    for (const { folder } of worlds) rmSync(folder, { recursive: true, force: true });
  });

  it(`loses nothing and repeats nothing that was recorded, ${KILLS} times`, {
    timeout: 1_800_000,
  }, async () => {
    const dice = new Random(SEED);
    let interrupted = 0;
    for (let kills = 0; kills < KILLS; kills += 1) {
      const world = makeWorld();
      worlds.push(world);
      const afterMs = (0.2 + 0.8 * dice.next()) * wholeRunMs;
      const where = `SEED=${SEED}, kill ${kills + 1} after ${afterMs.toFixed(1)} ms`;
      await startAndKill(world, afterMs);
      const before = await readLog(world);
      if (before.length === 0) continue;
      if (!before.some(({ type }) => type === "run.completed")) interrupted += 1;
      const resumed = await runCli([
        "resume",
        "1",
        "--quiet",
        "--max-parallel",
        "4",
        "--output-dir",
        join(world.folder, "out"),
      ]);
      expect(resumed.exitCode, `${where}: ${resumed.stderr}`).toBe(0);
      const log = await readLog(world);
      expect(log.slice(0, before.length), where).toEqual(before);
      const succeeded = log.filter(({ type }) => type === "attempt.succeeded").map(({ job }) => job);
      expect(succeeded.length, where).toBe(STEPS);
      expect(new Set(succeeded).size, where).toBe(STEPS);
      const doneBefore = new Set(
        before.filter(({ type }) => type === "attempt.succeeded").map(({ job }) => job),
      );
      const startedAfter = log
        .slice(before.length)
        .filter(({ type }) => type === "attempt.started")
        .map(({ job }) => job);
      expect(
        startedAfter.filter((job) => doneBefore.has(job)),
        where,
      ).toEqual([]);
      expect(await readOutputs(world), where).toEqual(expected);
      const started = log.filter(({ type }) => type === "attempt.started").length;
      expect(readFileSync(world.ran, "utf8").trim().split("\n").length, where).toBeLessThanOrEqual(started);
      for (const { token } of before.filter(({ type }) => type === "attempt.started"))
        expect(await endProcessesWithToken(String(token)), where).toBe(0);
    }
    console.log(`${KILLS} kills, ${interrupted} of them before the end of the run`);
    expect(interrupted).toBeGreaterThan(KILLS / 4);
  });
});
