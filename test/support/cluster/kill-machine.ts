import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { TestCluster } from "./test-cluster.js";

/**
 * As if its power had gone: the daemon of the node and all that runs in the job end at once. They are stopped first, so
 * that none lives to see another one die and to tell of it.
 */
export function killMachine({ folder }: TestCluster, node: string, id: string): void {
  const daemon = Number(readFileSync(join(folder, `run/slurmd-${node}.pid`), "utf8"));
  signalProcess(daemon, "SIGSTOP");
  const stopped = new Set([daemon]);
  for (let before = 0; before < stopped.size; ) {
    before = stopped.size;
    for (const pid of processesOf(folder, node, id)) {
      signalProcess(pid, "SIGSTOP");
      stopped.add(pid);
    }
  }
  for (const pid of stopped) signalProcess(pid, "SIGKILL");
}

function processesOf(folder: string, node: string, id: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => belongs(pid, folder, id) || isStepDaemon(pid, node)).map(Number);
}

function belongs(pid: string, folder: string, id: string): boolean {
  const environment = environmentOf(pid);
  return (
    environment.includes(`SLURM_JOB_ID=${id}`) && environment.includes(`SLURM_CONF=${folder}/etc/slurm.conf`)
  );
}

/** It may have ended since it was seen. */
export function signalProcess(pid: number, name: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** It calls itself slurmstepd, and keeps files of its node open. */
function isStepDaemon(pid: string, node: string): boolean {
  try {
    if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("slurmstepd")) return false;
    const open = readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
    return open.some((link) => existsSync(link) && readlinkSync(link).includes(node));
  } catch {
    return false;
  }
}
