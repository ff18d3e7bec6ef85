import { describe, expect, it } from "vitest";
import { EXPLAINED_MS, POLL_MS, PROBE_MS } from "../../src/fleet/supervisor/cluster-supervisor.js";
import { RETURN_MS, type SupervisorPorts } from "../../src/fleet/supervisor/supervisor-ports.js";
import type { ClusterState } from "../../src/store/cluster-rows.js";
import { MAIN } from "../support/fake-cluster.js";
import { demand, jobs, SupervisorBench, settingsOf, settled } from "../support/supervisor-bench.js";

/** A server with one allocation whose worker has come. */
async function running() {
  const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
  bench.demands = jobs(1, { memoryBytes: 1024 ** 2, runtimeMs: 60_000 });
  const supervisor = bench.supervisor();
  await bench.keepServer(1, 10 * 60 * 60_000);
  await supervisor.start();
  bench.begin("1");
  await bench.polls();
  return { bench, supervisor };
}

describe("a batch system that does not say what it has", () => {
  it("is looked after all the same: ends are told, and what somebody wants canceled is", async () => {
    const { bench } = await running();
    bench.cluster.isUnprobed = true;
    bench.clock.advance(PROBE_MS);
    await settled();
    const { cluster, allocations } = await bench.store.readCluster("hpc");
    await bench.store.writeCluster({ cluster, allocations: [{ ...allocations[0]!, cancel: "now" }] });
    await bench.polls(2);
    expect(bench.cluster.canceled).toEqual(["1 now"]);
    expect(await bench.rows()).toEqual(["1 ended DRAINED"]);
    expect(bench.told.slice(1)).toEqual(["cluster hpc: scontrol does not answer"]);
    expect(bench.cluster.submitted).toHaveLength(1);
  });
});

describe("a scheduler that refuses an allocation as too big", () => {
  const TOO_BIG = { refused: "TOO_BIG", message: "no node has that much", retryable: false } as const;

  async function refused() {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
    bench.demands = [demand(1, { cpus: 4, memoryBytes: 3000 * 1024 ** 2 }), demand(2)];
    bench.cluster.answers.push(TOO_BIG);
    const supervisor = bench.supervisor();
    await bench.keepServer(1, 10 * 60 * 60_000);
    await supervisor.start();
    await bench.polls(2);
    return { bench, supervisor };
  }

  it("stops the job that needs it, and neither the cluster nor the other jobs", async () => {
    const { bench, supervisor } = await refused();
    expect(await bench.rows()).toEqual(["- ended REFUSED", "1 pending"]);
    expect((await bench.store.readCluster("hpc")).cluster).toMatchObject({ suspended: null, failures: 0 });
    expect([...supervisor.impossible]).toEqual([
      [1, "slurm refuses an allocation for it: no node has that much"],
    ]);
    bench.begin("1");
    bench.demands = bench.demands.slice(0, 1);
    await bench.polls(20);
    expect(bench.cluster.submitted).toHaveLength(1);
  });

  it("is asked again when somebody wants it, and after an hour", async () => {
    const { bench, supervisor } = await refused();
    bench.cluster.answers.push(TOO_BIG);
    await supervisor.planNow();
    await bench.polls();
    expect(await bench.rows()).toEqual(["- ended REFUSED", "1 pending", "- ended REFUSED"]);
    expect(supervisor.impossible.has(1)).toBe(true);
    await bench.polls((60 * 60_000) / POLL_MS);
    expect(bench.cluster.submitted.length).toBeGreaterThan(1);
    expect(supervisor.impossible.size).toBe(0);
  });
});

describe("an allocation that is leaving for an unknown reason", () => {
  it("stops submitting until it is known that nobody canceled it", async () => {
    const { bench } = await running();
    bench.cluster.leave("1");
    await bench.polls(2);
    expect(bench.cluster.submitted).toHaveLength(1);
    bench.cluster.end("1", "NODE_FAIL");
    await bench.polls();
    expect(bench.cluster.submitted).toHaveLength(2);
  });

  it("was canceled by somebody: nothing has been submitted since", async () => {
    const { bench } = await running();
    bench.cluster.leave("1");
    await bench.polls(2);
    bench.cluster.end("1", "CANCELLED");
    await bench.polls(3);
    expect(bench.cluster.submitted).toHaveLength(1);
  });

  it("does not stop it for longer than a node may take to say so", async () => {
    const { bench } = await running();
    bench.cluster.leave("1");
    await bench.polls(EXPLAINED_MS / POLL_MS);
    expect(bench.cluster.submitted).toHaveLength(1);
    await bench.polls();
    expect(bench.cluster.submitted).toHaveLength(2);
  });
});

describe("a drain that somebody asked for before the server was started again", () => {
  /** A second request would make the worker hand back. */
  async function restarted() {
    const { bench, supervisor } = await running();
    const { cluster, allocations } = await bench.store.readCluster("hpc");
    await bench.store.writeCluster({ cluster, allocations: [{ ...allocations[0]!, cancel: "drain" }] });
    bench.demands = [];
    await bench.polls();
    await supervisor.stop();
    expect(bench.cluster.canceled).toEqual(["1 drain"]);
    bench.gone.add("hpc/1");
    await bench.supervisor().start();
    return bench;
  }

  it("is not asked for again: its worker is back and says that it drains", async () => {
    const bench = await restarted();
    bench.gone.delete("hpc/1");
    bench.draining.add("hpc/1");
    await bench.polls(20);
    expect(bench.cluster.canceled).toEqual(["1 drain"]);
  });

  it("is asked for if its worker is back and does not drain, or does not come back", async () => {
    for (const comesBack of [true, false]) {
      const bench = await restarted();
      if (comesBack) bench.gone.delete("hpc/1");
      await bench.polls(RETURN_MS / POLL_MS);
      expect(bench.cluster.canceled).toEqual(["1 drain", "1 drain"]);
    }
  });
});

describe("a request for allocations now", () => {
  it("is over once it is answered: later jobs are nobody's request", async () => {
    const bench = new SupervisorBench(settingsOf("    auto_schedule_on_ready_jobs: false\n"));
    const supervisor = bench.supervisor();
    await supervisor.start();
    await supervisor.planNow();
    bench.demands = jobs(1);
    await bench.polls(3);
    expect(bench.cluster.submitted).toEqual([]);
  });

  it("holds although another server changes the cluster at the same moment", async () => {
    const bench = new SupervisorBench(settingsOf("    auto_schedule_on_ready_jobs: false\n"));
    bench.demands = jobs(1);
    let isFirst = true;
    const store: SupervisorPorts["store"] = new Proxy(bench.store, {
      get: (target, name) =>
        name !== "writeCluster"
          ? Reflect.get(target, name)
          : async (state: ClusterState) => {
              if (!isFirst) return target.writeCluster(state);
              isFirst = false;
              return false;
            },
    });
    await bench.supervisor(1, { store }).planNow();
    expect(bench.cluster.submitted).toHaveLength(1);
  });
});

describe("a server that was started again", () => {
  it("gives the workers of its allocations time to come back before it submits others", async () => {
    const { bench } = await running();
    bench.clock.forget();
    bench.dead.add(1);
    bench.gone.add("hpc/1");
    await bench.keepServer(2, 10 * 60 * 60_000);
    await bench.supervisor(2).start();
    await bench.polls(RETURN_MS / POLL_MS - 1);
    expect(bench.cluster.submitted).toHaveLength(1);
    await bench.polls(1);
    expect(bench.cluster.submitted).toHaveLength(2);
  });

  it("submits no others once they are back", async () => {
    const { bench } = await running();
    bench.clock.forget();
    bench.dead.add(1);
    bench.gone.add("hpc/1");
    await bench.keepServer(2, 10 * 60 * 60_000);
    await bench.supervisor(2).start();
    bench.gone.clear();
    await bench.polls(2 * (RETURN_MS / POLL_MS));
    expect(bench.cluster.submitted).toHaveLength(1);
  });
});

describe("workers that can do nothing for the jobs that wait", () => {
  /** An allocation comes, its worker does nothing, and it leaves. */
  async function idle(bench: SupervisorBench, id: number): Promise<void> {
    bench.begin(String(id));
    await bench.polls();
    bench.cluster.end(String(id), "COMPLETED");
    await bench.polls(2);
  }

  it("are not sent for again and again: after three the cluster is suspended", async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
    bench.demands = jobs(1);
    await bench.supervisor().start();
    for (const id of [1, 2, 3]) await idle(bench, id);
    await bench.polls(100);
    expect(bench.cluster.submitted).toHaveLength(3);
    const { cluster } = await bench.store.readCluster("hpc");
    expect(cluster.suspended).toMatchObject({
      kind: "no_work",
      message: expect.stringContaining("lack something that the jobs need, such as a secret"),
    });
    await bench.store.writeCluster({ cluster: { ...cluster, suspended: null }, allocations: [] });
    await bench.polls();
    expect(bench.cluster.submitted).toHaveLength(4);
    await idle(bench, 4);
    expect(bench.cluster.submitted).toHaveLength(5);
  });

  it("are those of a cluster on which nothing begins: any attempt there counts anew", async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
    bench.demands = jobs(1);
    await bench.supervisor().start();
    for (const id of [1, 2, 3, 4, 5]) {
      if (id % 2 === 0) bench.starts += 1;
      await idle(bench, id);
    }
    expect(bench.cluster.submitted).toHaveLength(6);
    expect((await bench.store.readCluster("hpc")).cluster.suspended).toBeNull();
  });

  it("are not those that leave while only a job waits that needs an allocation of its own", async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
    bench.demands = jobs(3, { cpus: 4, runtimeMs: 3_000_000 });
    await bench.supervisor().start();
    for (const id of ["1", "2", "3"]) bench.begin(id);
    bench.demands = [demand(9, { nodes: 2 })];
    await bench.polls();
    for (const id of ["1", "2", "3"]) bench.cluster.end(id, "COMPLETED");
    await bench.polls(2);
    expect((await bench.store.readCluster("hpc")).cluster.suspended).toBeNull();
    // Its own allocations are useless if it still waits when they have left.
    for (const id of [4, 5, 6]) await idle(bench, id);
    expect((await bench.store.readCluster("hpc")).cluster.suspended).toMatchObject({ kind: "no_work" });
  });
});

describe("what a job can be given at most", () => {
  const GIB = 1024 ** 3;

  it("is known before any job has waited for the cluster", async () => {
    const bench = new SupervisorBench();
    const supervisor = bench.supervisor();
    await supervisor.start();
    expect(supervisor.knownLimits()).toEqual({ memory: 4000 * 1024 ** 2, runtime: null });
  });

  it("is what the settings say while the batch system does not answer, and asked for until it does", async () => {
    const bench = new SupervisorBench(settingsOf("    allocation: { memory: 2g }\n"));
    bench.cluster.isUnprobed = true;
    const supervisor = bench.supervisor();
    await supervisor.start();
    expect(supervisor.knownLimits()).toEqual({ memory: 2 * GIB, runtime: null });
    expect(bench.told).toEqual(["cluster hpc: scontrol does not answer"]);
    bench.cluster.isUnprobed = false;
    bench.cluster.targets = [{ ...MAIN, perNode: { ...MAIN.perNode, memoryBytes: GIB } }];
    await bench.polls();
    expect(supervisor.knownLimits()).toEqual({ memory: GIB, runtime: null });
  });
});
