import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAllocationProvider } from "../../src/fleet/allocations/create-provider.js";
import { isRefusal } from "../../src/fleet/allocations/provider.js";
import { allocationSpec } from "../support/allocation-spec.js";
import { until } from "../support/cluster/real-allocations.js";
import { repositoryRoot } from "../support/repository-root.js";
import { stepsIn } from "./provider-conformance.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-script-"));
  mkdirSync(join(folder, "scratch"));
  copyFileSync(join(repositoryRoot, "test/support/cluster/stub-pilot.sh"), join(folder, "pilot"));
  chmodSync(join(folder, "pilot"), 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const log = (): string => (existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8") : "");

/** The script as a batch system runs it, without the batch system. */
function start(engine: "slurm" | "gridengine", mode: string, setup: readonly string[] = []): ChildProcess {
  const program = [join(folder, "pilot"), mode];
  const planned = createAllocationProvider(engine, { env: {} }).plan(
    allocationSpec({
      profile: { options: [], setup: [`exec >> ${join(folder, "log")}`, ...setup], program },
    }),
    [],
  );
  if (isRefusal(planned)) throw new Error(planned.message);
  writeFileSync(join(folder, "script"), planned.script);
  return spawn("bash", [join(folder, "script")], {
    detached: true,
    env: {
      ...{ PATH: process.env.PATH, TMPDIR: join(folder, "scratch"), SGE_STDOUT_PATH: join(folder, "log") },
      ...{ SLURM_JOB_ID: "12", SLURMD_NODENAME: "n1", JOB_ID: "12" },
    },
    stdio: "ignore",
  });
}

const ready = (): Promise<void> => until("the pilot is ready", async () => log().includes("ready\n"));
const exitOf = async (script: ChildProcess): Promise<unknown> => (await once(script, "exit"))[0];

describe("the script of an allocation", () => {
  it.each(["slurm", "gridengine"] as const)(
    "of %s lets the worker finish at the warning, and cleans up",
    async (engine) => {
      const script = start(engine, "stay");
      await ready();
      script.kill("SIGUSR1");
      expect(await exitOf(script)).toBe(0);
      expect(stepsIn(log())).toEqual(["ready", "stop 1", "finished"]);
      expect(readdirSync(join(folder, "scratch"))).toEqual([]);
    },
  );

  it("of Slurm hands back at the TERM that Slurm sends to every process", async () => {
    const script = start("slurm", "stay");
    await ready();
    process.kill(-script.pid!, "SIGTERM");
    expect(await exitOf(script)).toBe(0);
    expect(stepsIn(log())).toEqual(["ready", "stop 1", "stop 2", "handed back"]);
  });

  it("of Grid Engine hands back at USR2, which the worker itself does not get, and says so", async () => {
    const script = start("gridengine", "stay");
    await ready();
    process.kill(-script.pid!, "SIGUSR2");
    expect(await exitOf(script)).toBe(75);
    expect(stepsIn(log())).toEqual(["ready", "stop 1", "stop 2", "handed back"]);
    expect(readdirSync(join(folder, "scratch"))).toEqual([]);
  });

  it("of Grid Engine drains when the file beside its log appears", async () => {
    const script = start("gridengine", "stay");
    await ready();
    writeFileSync(join(folder, "log.drain"), "");
    expect(await exitOf(script)).toBe(0);
    expect(stepsIn(log())).toEqual(["ready", "stop 1", "finished"]);
    expect(readdirSync(folder)).not.toContain("log.drain");
  });

  it("of Grid Engine does not leave a worker behind that only the script could stop", async () => {
    const script = start("gridengine", "stay");
    await ready();
    process.kill(-script.pid!, "SIGKILL");
    // By itself, or because what watches over the script tells it to.
    await until("the worker has left", async () => stepsIn(log()).at(-1) === "handed back");
  });

  it.each([
    ["slurm", "exit-3", 3],
    ["gridengine", "exit-3", 3],
    ["gridengine", "exit-0", 0],
  ] as const)("of %s has the exit code of the worker (%s)", async (engine, mode, code) => {
    expect(await exitOf(start(engine, mode))).toBe(code);
  });

  it.each([
    ["slurm", "SIGTERM", 0],
    ["gridengine", "SIGUSR2", 75],
  ] as const)("of %s starts no worker once it was told to leave (%s)", async (engine, signal, code) => {
    const script = start(engine, "stay", ["echo set up", "sleep 1"]);
    await until("it sets up", async () => log().includes("set up"));
    script.kill(signal);
    expect(await exitOf(script)).toBe(code);
    expect(log()).not.toContain("ready");
  });
});
