import { afterAll, beforeAll } from "vitest";
import { ClusterServer } from "./cluster-server.js";
import { REAL_CLUSTER_TIMEOUT_MS, until } from "./real-allocations.js";
import { startSlurm, type TestCluster } from "./test-cluster.js";

/** A preempted job of `spot` goes back into the queue, one of `spotkill` ends. */
function clusters(runtime: string): Readonly<Record<string, string>> {
  const keys = (most: number, more = ""): string =>
    `    allocation: { runtime: ${runtime}, drain: 5s, idle_exit: 4s, job_memory: 100m, job_runtime: 5s${more} }
    limits: { max_allocations: ${most}, cooldown: 1s }
`;
  return {
    hpc: `    partition: main\n${keys(3)}`,
    spot: `    partition: spot\n    options: [--requeue]\n${keys(1)}`,
    spotkill: `    partition: spotkill\n${keys(3, ", memory: 400m")}`,
  };
}

/** Of a step that is to run until something happens to it, and to be over at once when it runs again. */
export const LONG_AT_FIRST = "test $DARUMA_ATTEMPT_ID -gt 1 || sleep 250";

/** A server with a real Slurm of three nodes, for the tests of one file. */
export class SlurmServer {
  cluster!: TestCluster;
  server!: ClusterServer;

  /** `runtime`: of an allocation. */
  constructor({ runtime = "10m" } = {}) {
    beforeAll(async () => {
      this.cluster = await startSlurm({ nodes: 3 });
      this.server = new ClusterServer(this.cluster, clusters(runtime));
      await this.server.start();
    }, REAL_CLUSTER_TIMEOUT_MS);
    afterAll(async () => {
      await this.server.dispose();
      await this.cluster.stop();
    }, REAL_CLUSTER_TIMEOUT_MS);
  }

  idle(): Promise<void> {
    return this.server.idle();
  }

  /** The number that Slurm gave the allocation of a step's first attempt. */
  async idOf(run: number, step: string): Promise<string> {
    const [first] = await this.server.attempts(run, step);
    return /\/(\d+)#/.exec(first!.place)![1]!;
  }

  /** One that was taken down, be it by itself. */
  async nodeIsBack(node: string): Promise<void> {
    const { cluster } = this;
    await until(`${node} is back`, async () => {
      await cluster.command("scontrol", "update", `nodename=${node}`, "state=resume").catch(() => "");
      return (await cluster.command("sinfo", "--noheader", `--nodes=${node}`, "--format=%T")).includes(
        "idle",
      );
    });
  }

  /** By itself a requeued job waits for two minutes, and Slurm takes the request only when it has cleaned up. */
  async startAgain(id: string): Promise<void> {
    await until(`job ${id} has started again`, async () => {
      await this.cluster.command("scontrol", "update", `jobid=${id}`, "StartTime=now").catch(() => "");
      const told = await this.cluster.command("scontrol", "show", "job", id);
      // While the first one is being cleaned up it counts as restarted, too.
      return told.includes("Restarts=1") && /JobState=(RUNNING|COMPLETED)/.test(told);
    });
  }
}

/** A workflow with the one step `a`. */
export function steps(exec: string, on = "hpc"): string {
  return `steps:\n  a: { exec: "${exec}", runs_on: [${on}], resource_requirements: { memory: 100m, runtime: 5m } }\n`;
}
