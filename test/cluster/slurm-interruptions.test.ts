import { describe, expect, it } from "vitest";
import {
  ATTEMPTS,
  drainAll,
  Interruptions,
  noneRunsOn,
  ROUND_ALLOCATION_TIME,
  resume,
} from "../support/cluster/interruptions.js";
import { REAL_CLUSTER_TIMEOUT_MS } from "../support/cluster/real-allocations.js";
import { SlurmServer } from "../support/cluster/slurm-server.js";
import { clusterSuite, whyNoCluster } from "../support/cluster/test-cluster.js";

const JOBS = Math.min(12, ATTEMPTS / 4);
const TIMEOUT = { timeout: REAL_CLUSTER_TIMEOUT_MS * Math.ceil(ATTEMPTS / JOBS) };

describe.skipIf(whyNoCluster("slurm") !== null)(clusterSuite("slurm", "what a real Slurm interrupts"), () => {
  const slurm = new SlurmServer({ runtime: ROUND_ALLOCATION_TIME });

  it(`is never completed, and a drain redoes nothing: ${ATTEMPTS} attempts`, TIMEOUT, async () => {
    const { server } = slurm;
    const all = new Interruptions(server, JOBS);
    const live = async (): Promise<string[]> =>
      (await server.allocations({ live: true })).flatMap(({ id }) => (id === null ? [] : [id]));
    // It would be left out for an hour, and the next round needs all nodes.
    const bringBack = async (node: string): Promise<void> => {
      await slurm.nodeIsBack(node);
      await server.ask("allocations", "resume", "hpc");
    };
    const everything = { endsAllocations: () => true };
    const happenings = [
      async () => {
        await all.round(
          "hpc",
          async (run) => {
            await slurm.cluster.command("scancel", ...(await live()));
            await noneRunsOn(server, run);
            return everything;
          },
          () => resume(server, "hpc"),
        );
      },
      () =>
        all.round("hpc", async () => {
          await drainAll(server);
          return { endsAllocations: () => false };
        }),
      () =>
        all.round("spotkill", async (run) => {
          const urgent = [
            "--partition=urgent",
            "--nodes=3",
            "--exclusive",
            "--output=/dev/null",
            "--wrap=true",
          ];
          await slurm.cluster.command("sbatch", ...urgent);
          await noneRunsOn(server, run);
          return everything;
        }),
      async () => {
        let node = "";
        await all.round("hpc", async (run) => {
          const started = (await server.events(run)).filter(({ type }) => type === "attempt.started");
          node = String(started[0]!.node);
          const lost = new Set(
            started.filter((each) => each.node === node).map(({ allocation }) => `${allocation}#0`),
          );
          await slurm.cluster.command("scontrol", "update", `nodename=${node}`, "state=down", "reason=test");
          await noneRunsOn(server, run, node);
          return { endsAllocations: (place) => lost.has(place) };
        });
        await bringBack(node);
      },
    ];
    for (let round = 0; all.found.attempts < ATTEMPTS; round += 1) {
      await slurm.idle();
      await happenings[round % happenings.length]!();
    }
    if (process.env.ATTEMPTS !== undefined) console.info(JSON.stringify(all.found));
    expect(all.found).toMatchObject({ wrong: [], redone: [] });
    expect(all.found.interrupted).toBeGreaterThan(0);
  });
});
