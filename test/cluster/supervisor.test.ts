import { describe, expect, it } from "vitest";
import type { Refusal } from "../../src/fleet/allocations/provider.js";
import { POLL_MS } from "../../src/fleet/supervisor/cluster-supervisor.js";
import { EXCLUDED_MS, LOST_SUBMIT_MS, NO_PILOT_MS } from "../../src/fleet/supervisor/reconcile.js";
import { demand, jobs, SupervisorBench, settingsOf, settled } from "../support/supervisor-bench.js";

const LONG = { memoryBytes: 1024 ** 2, runtimeMs: 55 * 60_000 };

const NO_SUCH_NODES: Refusal = {
  refused: "TOO_BIG",
  message: "Requested node configuration is not available",
  retryable: false,
};

/** A server with one allocation whose worker has come. */
async function running() {
  const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
  bench.demands = jobs(1, LONG);
  const supervisor = bench.supervisor();
  await bench.keepServer(1, 10 * 60 * 60_000);
  await supervisor.start();
  bench.begin("1");
  await bench.polls();
  return { bench, supervisor };
}

describe("an allocation for ready jobs", () => {
  it("has its row, then its token in a file, then its submission, and its id at last", {
    tags: ["L4"],
  }, async () => {
    const bench = new SupervisorBench();
    const order: string[] = [];
    const { store, cluster } = bench;
    const ports = bench.ports(1);
    const supervisor = bench.supervisor(1, {
      store: {
        ...ports.store,
        readCluster: (name) => store.readCluster(name),
        readAllocation: (key) => store.readAllocation(key),
        listServers: (now) => store.listServers(now),
        revokeToken: (id, at) => store.revokeToken(id, at),
        putToken: async (token) => {
          order.push(`token for ${token.role}: ${token.name}`);
          return store.putToken(token);
        },
        writeCluster: async (state) => {
          order.push(`row: ${state.allocations.map(({ state: at, id }) => `${at} ${id}`).join()}`);
          return store.writeCluster(state);
        },
      },
      files: { write: (folder) => order.push(`file: ${folder}`), remove: () => {} },
      provider: new Proxy(cluster, {
        get: (target, name) =>
          name === "submit"
            ? async (plan: never) => {
                order.push("submit");
                return target.submit(plan);
              }
            : Reflect.get(target, name),
      }),
    });
    bench.demands = jobs(3);
    await supervisor.start();
    expect(order).toEqual([
      "token for worker: allocation daruma-hpc-1",
      "row: planned null",
      "file: /shared/daruma-hpc-1",
      "submit",
      "row: pending 1",
    ]);
    expect(bench.told).toEqual(["cluster hpc: submitted allocation 1 (3 cpus): 3 jobs are waiting"]);
    const [argv] = [...cluster.plans.values()].map((plan) => plan.argv.join(" "));
    expect(argv).toContain("--job-name=daruma-hpc-1");
    expect(argv).not.toContain("token-1");
    expect(cluster.plans.get("daruma-hpc-1")?.script).not.toContain("token-1");
  });

  it("is one for many jobs, and no second comes while it waits in the queue", { tags: ["L4"] }, async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
    bench.demands = jobs(40, { runtimeMs: 60_000 });
    await bench.supervisor().start();
    await bench.polls(20);
    expect(bench.cluster.submitted).toEqual(["daruma-hpc-1"]);
    expect(await bench.rows()).toEqual(["1 pending"]);
  });

  it("is asked about in one question, however many there are", async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0, max_allocations: 30 }\n"));
    bench.demands = jobs(100, LONG);
    await bench.supervisor().start();
    expect(bench.cluster.submitted).toHaveLength(25);
    bench.cluster.questions = 0;
    await bench.polls();
    expect(bench.cluster.questions).toBe(1);
  });

  it("that ended as it should leaves no token, no file, and is replaced for the next jobs", {
    tags: ["T34"],
  }, async () => {
    const { bench } = await running();
    expect([...bench.files.keys()]).toEqual(["/shared/daruma-hpc-1"]);
    bench.demands = [];
    bench.cluster.end("1", "COMPLETED");
    await bench.polls();
    expect(await bench.rows()).toEqual(["1 ended DRAINED"]);
    expect([...bench.files.keys()]).toEqual([]);
    expect((await bench.store.listTokens()).map(({ revoked_at }) => revoked_at !== null)).toEqual([true]);
    bench.demands = jobs(1, LONG);
    await bench.polls();
    expect(bench.cluster.submitted).toEqual(["daruma-hpc-1", "daruma-hpc-2"]);
  });

  it("waits for the cooldown of the one before", async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 20s }\n"));
    bench.demands = jobs(4, LONG);
    await bench.supervisor().start();
    bench.demands = jobs(8, LONG);
    await bench.polls(3);
    expect(bench.cluster.submitted).toHaveLength(1);
    await bench.polls(1);
    expect(bench.cluster.submitted).toHaveLength(2);
  });

  it("leaves the queue when its jobs have been gone for a minute", async () => {
    const bench = new SupervisorBench();
    bench.demands = [demand(1), demand(7, { nodes: 2 })];
    await bench.supervisor().start();
    expect(await bench.rows()).toEqual(["1 pending", "2 pending"]);
    bench.demands = [];
    await bench.polls(1);
    // The one that was made for a single job goes at once.
    expect(bench.cluster.canceled).toEqual(["1 drain"]);
    await bench.polls(14);
    expect(bench.cluster.canceled).toEqual(["1 drain", "2 drain"]);
    expect(bench.cluster.inQueue()).toEqual([]);
    expect(await bench.rows()).toEqual(["1 ended DRAINED", "2 ended DRAINED"]);
    expect((await bench.store.readCluster("hpc")).cluster.suspended).toBeNull();
  });
});

describe("the end of an allocation", () => {
  it.each([
    ["NODE_FAIL", "NODE_LOST"],
    ["PREEMPTED", "PREEMPTED"],
    ["TIMEOUT", "WALLTIME"],
    ["OUT_OF_MEMORY", "OOM"],
  ])("by %s is told to its attempts at once as %s, and another is submitted", async (state, code) => {
    const { bench } = await running();
    bench.cluster.end("1", state);
    await bench.polls();
    expect(bench.ended).toEqual([
      { allocation: "hpc/1", restart: 0, end: { code, message: expect.any(String) }, jobId: null },
    ]);
    expect(bench.cluster.submitted).toHaveLength(2);
    await bench.polls();
    expect(bench.ended).toHaveLength(1);
  });

  it("by a node's failure leaves that node out of the next ones for an hour", { tags: ["L5"] }, async () => {
    const { bench } = await running();
    bench.cluster.end("1", "NODE_FAIL");
    await bench.polls();
    expect(bench.cluster.plans.get("daruma-hpc-2")?.argv).toContain("--exclude=node1");
    bench.begin("2", "node2");
    bench.clock.advance(EXCLUDED_MS);
    await settled();
    bench.cluster.end("2", "COMPLETED");
    await bench.polls();
    expect(bench.cluster.plans.get("daruma-hpc-3")?.argv.join(" ")).not.toContain("--exclude");
  });

  it("by the failure of a node without which nothing can be had asks for that node again", async () => {
    const { bench, supervisor } = await running();
    bench.nodesInQuarantine = ["node3"];
    bench.cluster.end("1", "NODE_FAIL");
    bench.cluster.answers.push(NO_SUCH_NODES);
    await bench.polls();
    expect(bench.cluster.plans.get("daruma-hpc-2")?.argv).toContain("--exclude=node3");
    expect(bench.told).toContain(
      "cluster hpc: nothing can be had without the nodes that failed of late: node1",
    );
    expect(supervisor.impossible.size).toBe(0);
  });

  it("does not excuse what is too big with those nodes, too", async () => {
    const { bench, supervisor } = await running();
    bench.cluster.end("1", "NODE_FAIL");
    bench.cluster.answers.push(NO_SUCH_NODES, NO_SUCH_NODES);
    await bench.polls(2);
    expect(bench.cluster.submitted).toEqual(["daruma-hpc-1"]);
    expect(supervisor.impossible.get(1)).toContain("Requested node configuration is not available");
  });

  it("by somebody else's hand suspends the cluster until it is resumed", { tags: ["L5"] }, async () => {
    const { bench } = await running();
    bench.cluster.end("1", "CANCELLED");
    await bench.polls(100);
    expect(bench.ended.map(({ end }) => end.code)).toEqual(["CANCELED"]);
    expect(bench.cluster.submitted).toHaveLength(1);
    const { cluster } = await bench.store.readCluster("hpc");
    expect(cluster.suspended?.kind).toBe("canceled");
    await bench.store.writeCluster({ cluster: { ...cluster, suspended: null }, allocations: [] });
    await bench.polls();
    expect(bench.cluster.submitted).toHaveLength(2);
  });

  it("that somebody here asked for suspends nothing", async () => {
    const { bench } = await running();
    const { cluster, allocations } = await bench.store.readCluster("hpc");
    await bench.store.writeCluster({ cluster, allocations: [{ ...allocations[0]!, cancel: "now" }] });
    bench.demands = [];
    await bench.polls(2);
    expect(bench.cluster.canceled).toEqual(["1 now"]);
    expect(await bench.rows()).toEqual(["1 ended DRAINED"]);
    expect((await bench.store.readCluster("hpc")).cluster.suspended).toBeNull();
  });

  it("of one incarnation is told while the next one waits", async () => {
    const { bench } = await running();
    bench.cluster.requeue("1");
    await bench.polls();
    expect(bench.ended).toMatchObject([{ allocation: "hpc/1", restart: 0, end: { code: "REQUEUED" } }]);
    expect(await bench.store.readAllocation("daruma-hpc-1")).toMatchObject({ state: "pending", restart: 1 });
    await bench.polls(3);
    expect(bench.ended).toHaveLength(1);
    expect(bench.cluster.submitted).toHaveLength(1);
  });

  it("is not believed while nobody answers, and is after both have not known it for five minutes", async () => {
    const { bench } = await running();
    bench.cluster.isSilent = true;
    await bench.polls(200);
    expect(bench.ended).toEqual([]);
    bench.cluster.isSilent = false;
    bench.cluster.forget("1");
    await bench.polls(59);
    expect(bench.ended).toEqual([]);
    await bench.polls(2);
    expect(bench.ended).toMatchObject([{ end: { code: "VANISHED" } }]);
  });

  it("of one that can never start is asked for, and counts as one without a worker", async () => {
    const bench = new SupervisorBench();
    bench.demands = jobs(1);
    await bench.supervisor().start();
    bench.cluster.stick("1");
    await bench.polls(2);
    expect(bench.cluster.canceled).toEqual(["1 now"]);
    expect(await bench.rows()).toEqual(["1 ended NEVER_STARTS"]);
    expect((await bench.store.readCluster("hpc")).cluster.failures).toBe(1);
  });
});

describe("allocations without a worker", () => {
  it("are tried one at a time with longer pauses; after three nothing more is submitted", {
    tags: ["L5"],
  }, async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
    bench.demands = jobs(1);
    await bench.supervisor().start();
    const waits: number[] = [];
    for (let failed = 1; failed <= 3; failed += 1) {
      bench.cluster.end(String(failed), "FAILED", 1);
      const before = bench.clock.now();
      await bench.polls(1);
      for (let poll = 0; poll < 50 && bench.cluster.submitted.length === failed; poll += 1)
        await bench.polls();
      waits.push((bench.clock.now() - before) / 1_000);
    }
    expect(bench.cluster.submitted).toEqual(["daruma-hpc-1", "daruma-hpc-2", "daruma-hpc-3"]);
    expect(waits).toEqual([35, 65, 255]);
    const { cluster } = await bench.store.readCluster("hpc");
    expect(cluster).toMatchObject({ failures: 3, suspended: { kind: "no_pilot" } });
    expect(cluster.suspended?.message).toMatch(
      /^3 allocations in a row ended without a worker; the last one: /,
    );
    await bench.polls(1_000);
    expect(bench.cluster.submitted).toHaveLength(3);
  });

  it("that all fail at once make no storm: the first ones suspend the cluster", async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0, max_allocations: 5 }\n"));
    bench.demands = jobs(40, LONG);
    await bench.supervisor().start();
    expect(bench.cluster.submitted).toHaveLength(5);
    for (const id of bench.cluster.inQueue()) bench.cluster.end(id, "FAILED", 1);
    await bench.polls(500);
    expect(bench.cluster.submitted).toHaveLength(5);
    expect((await bench.store.readCluster("hpc")).cluster.suspended?.kind).toBe("no_pilot");
  });

  it("are forgotten as soon as a worker comes", async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
    bench.demands = jobs(1);
    await bench.supervisor().start();
    bench.cluster.end("1", "FAILED", 1);
    await bench.polls(8);
    bench.begin("2");
    await bench.polls();
    expect((await bench.store.readCluster("hpc")).cluster).toMatchObject({ failures: 0, retry_at: null });
  });

  it("that run on are given up after five minutes", async () => {
    const bench = new SupervisorBench();
    bench.demands = jobs(1);
    await bench.supervisor().start();
    bench.cluster.start("1", "node1", bench.clock.now());
    await bench.polls(NO_PILOT_MS / POLL_MS - 1);
    expect(bench.cluster.canceled).toEqual([]);
    await bench.polls(2);
    expect(bench.cluster.canceled).toEqual(["1 now"]);
    expect(await bench.rows()).toEqual(["1 ended PILOT_FAILED"]);
    expect((await bench.store.readCluster("hpc")).cluster.failures).toBe(1);
  });
});

describe("a refusal", () => {
  it("for good suspends the cluster, with the scheduler's words, and leaves no token", async () => {
    const bench = new SupervisorBench();
    bench.demands = jobs(1);
    bench.cluster.answers.push({ refused: "DENIED", message: "invalid account", retryable: false });
    await bench.supervisor().start();
    await bench.polls(20);
    expect(bench.cluster.submitted).toEqual([]);
    const { cluster } = await bench.store.readCluster("hpc");
    expect(cluster.suspended).toMatchObject({
      kind: "refused",
      message: "slurm refuses allocations (DENIED): invalid account",
    });
    expect(await bench.rows()).toEqual(["- ended REFUSED"]);
    expect((await bench.store.listTokens()).every(({ revoked_at }) => revoked_at !== null)).toBe(true);
    expect(bench.files.size).toBe(0);
  });

  it("that will pass is asked again after half a minute and counts as nothing", async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
    bench.demands = jobs(1);
    bench.cluster.answers.push({ refused: "BUSY", message: "try later", retryable: true });
    await bench.supervisor().start();
    await bench.polls(5);
    expect(bench.cluster.submitted).toEqual([]);
    await bench.polls(1);
    expect(bench.cluster.submitted).toHaveLength(1);
    expect((await bench.store.readCluster("hpc")).cluster).toMatchObject({ failures: 0, suspended: null });
  });

  it("before the submission makes no row", async () => {
    const bench = new SupervisorBench(settingsOf("    partition: nowhere\n"));
    bench.demands = jobs(1);
    await bench.supervisor().start();
    await bench.polls(3);
    expect(await bench.rows()).toEqual([]);
    expect((await bench.store.readCluster("hpc")).cluster.suspended?.message).toContain(
      "there is no nowhere",
    );
  });
});

describe("a lost answer", () => {
  it.each(["lost", "timed_out"] as const)(
    "of a submission that came about is found by its key: %s",
    async (answer) => {
      const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
      bench.demands = jobs(1);
      bench.cluster.answers.push(answer);
      await bench.supervisor().start();
      expect(await bench.rows()).toEqual(["- planned"]);
      await bench.polls(1);
      expect(await bench.rows()).toEqual(["1 pending"]);
      await bench.polls(30);
      expect(bench.cluster.submitted).toEqual(["daruma-hpc-1"]);
    },
  );

  it("of one that did not is given up after a minute, and another key is submitted", {
    tags: ["L6"],
  }, async () => {
    const bench = new SupervisorBench(settingsOf("    limits: { cooldown: 0 }\n"));
    bench.demands = jobs(1);
    bench.cluster.answers.push("never");
    await bench.supervisor().start();
    await bench.polls(LOST_SUBMIT_MS / POLL_MS - 1);
    expect(bench.cluster.submitted).toEqual([]);
    await bench.polls(1);
    expect(await bench.rows()).toEqual(["- ended NEVER_SUBMITTED", "1 pending"]);
    expect(bench.cluster.submitted).toEqual(["daruma-hpc-2"]);
    expect((await bench.store.readCluster("hpc")).cluster.failures).toBe(0);
  });
});

describe("nodes in quarantine", () => {
  it("are left out of the next allocations for as long as they are", async () => {
    const { bench } = await running();
    bench.nodesInQuarantine = ["node3"];
    bench.demands = jobs(8, LONG);
    await bench.polls();
    expect(bench.cluster.plans.get("daruma-hpc-2")?.argv).toContain("--exclude=node3");
    expect((await bench.store.readCluster("hpc")).cluster.excluded).toEqual([]);
  });
});
