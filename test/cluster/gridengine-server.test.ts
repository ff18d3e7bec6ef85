import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClusterServer } from "../support/cluster/cluster-server.js";
import { REAL_CLUSTER_TIMEOUT_MS, until } from "../support/cluster/real-allocations.js";
import {
  clusterSuite,
  startGridEngine,
  type TestCluster,
  whyNoCluster,
} from "../support/cluster/test-cluster.js";

const TIMEOUT = { timeout: REAL_CLUSTER_TIMEOUT_MS };
const KEYS = `    tags: [hpc]
    queue: main.q
    parallel_environment: smp
    allocation: { cpus: 4, runtime: 10m, drain: 5s, idle_exit: 3s, job_memory: 100m, job_runtime: 5s }
    limits: { max_allocations: 2, cooldown: 1s }
`;

let cluster: TestCluster;
let server: ClusterServer;

describe.skipIf(whyNoCluster("gridengine") !== null)(
  clusterSuite("gridengine", "a server with a real Grid Engine"),
  () => {
    beforeAll(async () => {
      cluster = await startGridEngine();
      server = new ClusterServer(cluster, { hpc: KEYS });
      await server.start();
    }, REAL_CLUSTER_TIMEOUT_MS);
    afterAll(async () => {
      await server.dispose();
      await cluster.stop();
    }, REAL_CLUSTER_TIMEOUT_MS);

    it("runs 40 jobs, each once, shows nobody a token, and leaves the queue empty", TIMEOUT, async () => {
      const gate = server.gate("many");
      const run = await server.submit(
        "many",
        `jobs:
  - name: job_{i}
    command: ${gate.command}
    parameters: { i: "1:40" }
    runs_on: [hpc]
    resource_requirements: { num_cpus: 1, memory: 100m, runtime: 5m }
`,
      );
      await until("a job runs", async () =>
        (await server.jobs(run)).some(({ status }) => status === "running"),
      );
      const [allocation] = await server.allocations({ live: true });
      const canary = server.token(allocation!);
      expect(await cluster.command("qstat", "-j", allocation!.id!)).not.toContain(canary);
      expect(spawnSync("grep", ["-rlF", canary, cluster.folder]).stdout.toString()).toBe("");
      gate.open();
      expect(await server.ends(run)).toBe("completed");
      const started = (await server.events(run)).filter(({ type }) => type === "attempt.started");
      expect(started).toHaveLength(40);
      await server.idle();
      expect(await cluster.command("qstat")).toBe("");
      expect(existsSync(server.tokenFile(allocation!))).toBe(false);
    });

    it("restarts a job whose allocation somebody deletes, once the cluster is resumed", TIMEOUT, async () => {
      const run = await server.submit(
        "deleted",
        `steps:\n  a: { exec: "test $DARUMA_ATTEMPT_ID -gt 1 || sleep 100", runs_on: [hpc], resource_requirements: { memory: 100m, runtime: 5m } }\n`,
      );
      await server.running(run, "a");
      const [allocation] = await server.allocations({ live: true });
      await cluster.command("qdel", allocation!.id!);
      await until("the cluster is suspended", async () =>
        (await server.ask("allocations", "list")).stdout.includes("hpc is suspended"),
      );
      await server.ask("allocations", "resume", "hpc");
      expect(await server.ends(run)).toBe("completed");
      const events = await server.events(run);
      expect(events.filter(({ type }) => type === "attempt.started")).toHaveLength(2);
      expect(events.find(({ type }) => type === "attempt.failed")).toMatchObject({
        error: { class: "infrastructure" },
      });
    });
  },
);
