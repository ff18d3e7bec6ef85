import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../free-port.js";
import { repositoryRoot } from "../repository-root.js";

const run = promisify(execFile);
const SCRIPTS = join(repositoryRoot, "test/support/cluster");

export type TestEngine = "slurm" | "gridengine";

const NEEDED: { readonly [engine in TestEngine]: readonly string[] } = {
  slurm: ["slurmctld", "slurmd", "slurmdbd", "mariadbd", "munged", "sbatch"],
  gridengine: ["sge_qmaster", "sge_execd", "qsub"],
};

/** Why there can be no such cluster on this machine; null: there can. */
export function whyNoCluster(engine: TestEngine): string | null {
  if (process.platform !== "linux") return "it needs Linux";
  if (process.getuid?.() !== 0) return "it needs root";
  const missing = NEEDED[engine].filter((program) => !isInstalled(program));
  return missing.length === 0
    ? null
    : `${missing.join(", ")} not installed; run test/support/cluster/install.sh`;
}

/** The name of a suite on a real cluster; where it is skipped, the name says why. */
export function clusterSuite(engine: TestEngine, name: string): string {
  const reason = whyNoCluster(engine);
  return reason === null ? name : `${name} (skipped: ${reason})`;
}

function isInstalled(program: string): boolean {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.some((folder) => existsSync(join(folder, program)));
}

export interface TestCluster {
  readonly engine: TestEngine;
  readonly folder: string;
  /** With which its commands reach it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of Slurm. The only host of Grid Engine is this machine. */
  readonly nodes: readonly string[];
  /** A command of the cluster itself; its output. */
  command(program: string, ...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

export interface SlurmOptions {
  readonly nodes?: number;
  readonly accounting?: boolean;
}

/** A real Slurm for the tests of one file. It goes when the process that started it goes, however that ends. */
export async function startSlurm({ nodes = 3, accounting = true }: SlurmOptions = {}): Promise<TestCluster> {
  const prefix = `t${randomBytes(3).toString("hex")}n`;
  const ports = await Promise.all(Array.from({ length: nodes + 3 }, () => freePort()));
  const names = Array.from({ length: nodes }, (_, index) => `${prefix}${index + 1}`);
  return start("slurm", names, {
    PORTS: ports.join(" "),
    PREFIX: prefix,
    ACCOUNTING: accounting ? "yes" : "no",
  });
}

/** A real Grid Engine with one host. */
export async function startGridEngine(): Promise<TestCluster> {
  const ports = await Promise.all([freePort(), freePort()]);
  return start("gridengine", [], { PORTS: ports.join(" ") });
}

async function start(
  engine: TestEngine,
  nodes: readonly string[],
  settings: Record<string, string>,
): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), `daruma-${engine}-`));
  const path = `${process.env.PATH}${delimiter}/usr/sbin${delimiter}/sbin`;
  watch(engine, folder);
  await run("bash", [join(SCRIPTS, `${engine}-up.sh`), folder], {
    env: { ...process.env, PATH: path, ...settings },
  });
  const env = { ...process.env, PATH: path, ...readEnvironment(folder) };
  return {
    engine,
    folder,
    env,
    nodes,
    command: async (program, ...args) => (await run(program, args, { env })).stdout,
    stop: async () => {
      await run("bash", [join(SCRIPTS, `${engine}-down.sh`), folder]).catch(() => {});
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `export NAME=value` in each line. */
function readEnvironment(folder: string): Record<string, string> {
  const lines = readFileSync(join(folder, "env"), "utf8").matchAll(/^export (\w+)=(.*)$/gm);
  return Object.fromEntries(Array.from(lines, ([, name = "", value = ""]) => [name, value]));
}

/** A test run that is killed can clean up nothing itself. */
function watch(engine: TestEngine, folder: string): void {
  const script = `
    while kill -0 "$1" 2>/dev/null && [ -d "$2" ]; do sleep 1; done
    [ -d "$2" ] || exit 0
    bash "$0" "$2"
    rm -rf "$2"`;
  const args = ["-c", script, join(SCRIPTS, `${engine}-down.sh`), String(process.pid), folder];
  spawn("sh", args, { detached: true, stdio: "ignore" }).unref();
}
