import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClusterServer } from "../support/cluster/cluster-server.js";
import {
  ATTEMPTS,
  drainAll,
  Interruptions,
  noneRunsOn,
  ROUND_ALLOCATION_TIME,
  resume,
} from "../support/cluster/interruptions.js";
import { REAL_CLUSTER_TIMEOUT_MS } from "../support/cluster/real-allocations.js";
import {
  clusterSuite,
  startGridEngine,
  type TestCluster,
  whyNoCluster,
} from "../support/cluster/test-cluster.js";

/** It ends allocations in fewer ways than Slurm. */
const OF_THEM = ATTEMPTS / 4;
const JOBS = Math.min(8, OF_THEM / 2);
const KEYS = `    tags: [hpc]
    queue: main.q
    parallel_environment: smp
    allocation: { cpus: 4, runtime: ${ROUND_ALLOCATION_TIME}, drain: 5s, idle_exit: 3s, job_memory: 100m, job_runtime: 5s }
    limits: { max_allocations: 2, cooldown: 1s }
`;
const TIMEOUT = { timeout: REAL_CLUSTER_TIMEOUT_MS * Math.ceil(OF_THEM / JOBS) };

let cluster: TestCluster;
let server: ClusterServer;

describe.skipIf(whyNoCluster("gridengine") !== null)(
  clusterSuite("gridengine", "what a real Grid Engine interrupts"),
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

    it(`is never completed, and a drain redoes nothing: ${OF_THEM} attempts`, TIMEOUT, async () => {
      const all = new Interruptions(server, JOBS);
      const deleted = () =>
        all.round(
          "hpc",
          async (run) => {
            for (const { id } of await server.allocations({ live: true }))
              if (id !== null) await cluster.command("qdel", id);
            await noneRunsOn(server, run);
            return { endsAllocations: () => true };
          },
          () => resume(server, "hpc"),
        );
      const drained = () =>
        all.round("hpc", async () => {
          await drainAll(server);
          return { endsAllocations: () => false };
        });
      for (let round = 0; all.found.attempts < OF_THEM; round += 1) {
        await server.idle();
        await (round % 2 === 0 ? deleted : drained)();
      }
      if (process.env.ATTEMPTS !== undefined) console.info(JSON.stringify(all.found));
      expect(all.found).toMatchObject({ wrong: [], redone: [] });
      expect(all.found.interrupted).toBeGreaterThan(0);
    });
  },
);
