import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { childrenOf, LAUNCHERS } from "../../../test/support/process-trial.js";
import { endProcessesWithToken } from "./attempt-processes.js";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Programs with a host of their own, to be killed or left to end: the hosts of this folder, each in one file. */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "daruma-death-"));
  const entryPoints = ["spawn-host.ts", "launcher-host.ts"].map((name) => join(HERE, name));
  const outdir = join(folder, "process");
  await build({
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
  });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SPAWN_HOST = 'import { SpawnHost } from "./process/spawn-host.js";';
const HOSTS: [string, string][] = [
  ...LAUNCHERS.map(([name, program]): [string, string] => [
    name,
    `import { LauncherHost } from "./process/launcher-host.js"; const host = new LauncherHost(${JSON.stringify(program)});`,
  ]),
  ["plain spawn", `${SPAWN_HOST} const host = new SpawnHost();`],
];

/** A program that has a host and, for each attempt, `start(exec)`. */
function startEngine(createHost: string, program: string, token: string): ChildProcess {
  const file = join(folder, `${randomUUID()}.js`);
  const start = `const start = (exec) => host.start({ exec, env: { PATH: process.env.PATH, DARUMA_ATTEMPT_TOKEN: ${JSON.stringify(token)} }, cwd: "/", onStdout: (chunk) => process.stdout.write(chunk), onStderr() {} });`;
  writeFileSync(file, `${createHost}\n${start}\n${program}\n`);
  return spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
}

async function printed(engine: ChildProcess, word: string, times: number): Promise<void> {
  let text = "";
  await new Promise<void>((resolve, reject) => {
    engine.once("exit", (code) => reject(new Error(`the engine ended with ${code} after printing: ${text}`)));
    engine.stdout!.on("data", (chunk) => {
      text += chunk;
      if (text.split(word).length > times) resolve();
    });
  });
}

describe.each(HOSTS)("an engine that runs processes with %s", (_name, createHost) => {
  it("takes every process with it when it is killed", async () => {
    const token = randomUUID();
    const stubborn =
      "trap '' TERM HUP; (trap '' TERM HUP PIPE; sleep 1000; sleep 1000) & echo ready; sleep 1000; sleep 1000";
    const engine = startEngine(
      createHost,
      `for (let i = 0; i < 3; i++) start(${JSON.stringify(stubborn)});`,
      token,
    );
    await printed(engine, "ready", 3);
    expect(livingWithToken(token)).toBeGreaterThanOrEqual(6);
    engine.kill("SIGKILL");
    await waitUntil(() => livingWithToken(token) === 0);
    expect(await endProcessesWithToken(token)).toBe(0);
  });

  it("ends by itself although its pool is idle and was never closed, and leaves nothing running", async () => {
    const token = randomUUID();
    const tag = `DARUMA_TEST_TAG=${token}`;
    process.env.DARUMA_TEST_TAG = token;
    const engine = startEngine(
      createHost,
      'await start("true").exited; await start("echo done").exited;',
      token,
    );
    delete process.env.DARUMA_TEST_TAG;
    const code = await new Promise((resolve) => engine.once("exit", resolve));
    expect(code).toBe(0);
    await waitUntil(() => livingWith(tag) === 0);
  });
});

describe.each(HOSTS.filter(([name]) => name === "compiled launchers"))("%s", (_name, createHost) => {
  it("that are killed while their engine cannot act do not leave the main process of a job running", async () => {
    const token = randomUUID();
    const engine = startEngine(createHost, `start("echo ready; exec sleep 1000");`, token);
    await printed(engine, "ready", 1);
    engine.kill("SIGSTOP");
    const [launcher] = childrenOf(engine.pid!);
    process.kill(launcher!, "SIGKILL");
    await waitUntil(() => livingWithToken(token) === 0);
    engine.kill("SIGKILL");
  });
});

const livingWithToken = (token: string): number => livingWith(`DARUMA_ATTEMPT_TOKEN=${token}`);

function livingWith(entry: string): number {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "latin1").includes(entry);
    } catch {
      return false;
    }
  }).length;
}

/** Fails by the test's own time limit. */
async function waitUntil(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}
