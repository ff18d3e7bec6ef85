import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { TestCluster } from "./test-cluster.js";

/** As if its power had gone: the daemon of the node and all that runs in the job are killed at once. */
export function killMachine({ folder }: TestCluster, node: string, id: string): void {
  process.kill(Number(readFileSync(join(folder, `run/slurmd-${node}.pid`), "utf8")), "SIGKILL");
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const belongs =
      environmentOf(pid).includes(`SLURM_JOB_ID=${id}`) &&
      environmentOf(pid).includes(`SLURM_CONF=${folder}/etc/slurm.conf`);
    if (belongs || isStepDaemon(pid, node)) process.kill(Number(pid), "SIGKILL");
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
