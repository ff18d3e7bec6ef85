import { describe, expect, it } from "vitest";
import type { ShownAttempt } from "../support/cluster/cluster-server.js";
import { killMachine } from "../support/cluster/kill-machine.js";
import { REAL_CLUSTER_TIMEOUT_MS, until } from "../support/cluster/real-allocations.js";
import { LONG_AT_FIRST, SlurmServer, steps } from "../support/cluster/slurm-server.js";
import { clusterSuite, whyNoCluster } from "../support/cluster/test-cluster.js";

const TIMEOUT = { timeout: REAL_CLUSTER_TIMEOUT_MS };
/** By its worker that was told to stop, or by the batch system if the worker had no time to say so. */
const TAKEN_AWAY = /^(EVICTED|WORKER_LOST) infrastructure$/;

describe.skipIf(whyNoCluster("slurm") !== null)(clusterSuite("slurm", "what a real Slurm ends"), () => {
  const slurm = new SlurmServer();

  it("restarts the job elsewhere when its node goes down, and leaves that node out", TIMEOUT, async () => {
    await slurm.idle();
    const run = await slurm.server.submit("node", steps(LONG_AT_FIRST));
    await slurm.server.running(run, "a");
    const [{ node }] = (await slurm.server.attempts(run, "a")) as [ShownAttempt];
    await slurm.cluster.command("scontrol", "update", `nodename=${node}`, "state=down", "reason=test");
    expect(await slurm.server.ends(run)).toBe("completed");
    const events = await slurm.server.events(run);
    const started = events.filter(({ type }) => type === "attempt.started");
    expect(started.map(({ node: at }) => at === node)).toEqual([true, false]);
    expect(events.filter(({ type }) => type === "restart.granted")).toHaveLength(1);
    expect(events.find(({ type }) => type === "attempt.failed")).toMatchObject({
      error: { class: "infrastructure" },
    });
    await slurm.nodeIsBack(node);
  });

  it(
    "gives a job wider than a node an allocation of its own, in which srun starts its ranks, also on a node that failed",
    TIMEOUT,
    async () => {
      // The one that went down before is back, and there is no other third one.
      const run = await slurm.server.submit(
        "wide",
        `steps:
  ranks:
    exec: srun --ntasks=3 --ntasks-per-node=1 sh -c 'echo rank $SLURM_PROCID on $SLURMD_NODENAME'
    runs_on: [hpc]
    resource_requirements: { num_nodes: 3, memory: 100m, runtime: 5m }
`,
      );
      expect(await slurm.server.ends(run)).toBe("completed");
      const [attempt, ...more] = await slurm.server.attempts(run, "ranks");
      expect([attempt?.ends, more]).toEqual([["succeeded"], []]);
      const own = (await slurm.server.allocations()).find(({ id }) => `hpc/${id}#0` === attempt!.place)!;
      expect(own.nodes).toHaveLength(3);
      const { stdout } = await slurm.server.ask("logs", String(run), "ranks");
      expect(stdout.trim().split("\n").sort()).toEqual(
        [...own.nodes].sort().map((node, rank) => `rank ${rank} on ${node}`),
      );
    },
  );

  it("fails a job wider than a node for good when somebody cancels its allocation", TIMEOUT, async () => {
    await slurm.idle();
    const run = await slurm.server.submit(
      "wide-canceled",
      `unhandled: fail
steps:
  ranks:
    exec: srun --ntasks=2 --ntasks-per-node=1 sleep 300
    runs_on: [hpc]
    resource_requirements: { num_nodes: 2, memory: 100m, runtime: 5m }
`,
    );
    await slurm.server.running(run, "ranks");
    await slurm.cluster.command("scancel", await slurm.idOf(run, "ranks"));
    expect(await slurm.server.ends(run)).toBe("failed");
    expect((await slurm.server.attempts(run, "ranks")).map(({ ends }) => ends)).toEqual([
      ["ALLOCATION_CANCELED deterministic_policy"],
    ]);
    await slurm.server.ask("allocations", "resume", "hpc");
  });

  it("restarts the job of a requeued allocation, in its next incarnation", TIMEOUT, async () => {
    const run = await slurm.server.submit("requeued", steps(LONG_AT_FIRST, "spot"));
    await slurm.server.running(run, "a");
    const id = await slurm.idOf(run, "a");
    await slurm.cluster.command("scontrol", "requeue", id);
    await slurm.startAgain(id);
    expect(await slurm.server.ends(run)).toBe("completed");
    expect(await slurm.server.attempts(run, "a")).toMatchObject([
      { place: `spot/${id}#0`, ends: [expect.stringMatching(TAKEN_AWAY)] },
      { place: `spot/${id}#1`, ends: ["succeeded"] },
    ]);
  });

  it("restarts what a more important job takes the place of, requeued or ended", TIMEOUT, async () => {
    await slurm.idle();
    const run = await slurm.server.submit(
      "preempted",
      `steps:
  requeued: { exec: "${LONG_AT_FIRST}", runs_on: [spot], resource_requirements: { memory: 100m, runtime: 5m } }
  ended: { exec: "${LONG_AT_FIRST}", runs_on: [spotkill], resource_requirements: { memory: 100m, runtime: 5m } }
`,
    );
    await slurm.server.running(run, "requeued");
    await slurm.server.running(run, "ended");
    const [requeued, ended] = [await slurm.idOf(run, "requeued"), await slurm.idOf(run, "ended")];
    const urgent = ["--partition=urgent", "--nodes=3", "--exclusive", "--output=/dev/null", "--wrap=sleep 1"];
    await slurm.cluster.command("sbatch", ...urgent);
    await slurm.startAgain(requeued);
    expect(await slurm.server.ends(run)).toBe("completed");
    expect(await slurm.server.attempts(run, "requeued")).toMatchObject([
      { place: `spot/${requeued}#0`, ends: [expect.stringMatching(TAKEN_AWAY)] },
      { place: `spot/${requeued}#1`, ends: ["succeeded"] },
    ]);
    const again = await slurm.server.attempts(run, "ended");
    expect(again).toMatchObject([
      { place: `spotkill/${ended}#0`, ends: [expect.stringMatching(TAKEN_AWAY)] },
      { ends: ["succeeded"] },
    ]);
    expect(again[1]!.place).not.toBe(again[0]!.place);
    await slurm.idle();
    const ends = new Map((await slurm.server.allocations()).map(({ id, end }) => [id, end?.code]));
    expect([ends.get(ended), ends.get(requeued)]).toEqual(["PREEMPTED", "DRAINED"]);
  });

  it("restarts elsewhere what ran on a machine that dies", TIMEOUT, async () => {
    await slurm.idle();
    const run = await slurm.server.submit("dead", steps(LONG_AT_FIRST));
    await slurm.server.running(run, "a");
    const id = await slurm.idOf(run, "a");
    const [{ node }] = (await slurm.server.attempts(run, "a")) as [ShownAttempt];
    killMachine(slurm.cluster, node, id);
    expect(await slurm.server.ends(run)).toBe("completed");
    const attempts = await slurm.server.attempts(run, "a");
    expect(attempts.map(({ ends }) => ends)).toEqual([["WORKER_LOST infrastructure"], ["succeeded"]]);
    expect(attempts[1]!.node).not.toBe(node);
    await until("Slurm has given the machine up", async () => {
      const found = (await slurm.server.allocations()).find((each) => each.id === id);
      return found?.end?.code === "NODE_LOST";
    });
  });
});
