import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AllocationSpec, KnownOfPilot } from "../../src/fleet/allocations/provider.js";
import { killMachine } from "../support/cluster/kill-machine.js";
import { REAL_CLUSTER_TIMEOUT_MS, RealAllocations, until } from "../support/cluster/real-allocations.js";
import { Scenario } from "../support/cluster/scenario.js";
import { clusterSuite, startSlurm, whyNoCluster } from "../support/cluster/test-cluster.js";
import { noPilotIsLeft, providerConformance, stepsIn } from "./provider-conformance.js";

const SIGNAL = new AbortController().signal;
const MINUTE_MS = 60_000;

const TIMEOUT = { timeout: REAL_CLUSTER_TIMEOUT_MS };

let allocations: RealAllocations;

describe.skipIf(whyNoCluster("slurm") !== null)(clusterSuite("slurm", "a real Slurm"), TIMEOUT, () => {
  beforeAll(async () => {
    const cluster = await startSlurm({ nodes: 6 });
    allocations = new RealAllocations(cluster, cluster.nodes.slice(2, 5));
    for (const scenario of SCENARIOS) scenario.begin();
  }, REAL_CLUSTER_TIMEOUT_MS);
  afterAll(() => allocations.dispose(), REAL_CLUSTER_TIMEOUT_MS);

  describe("an allocation", () => {
    providerConformance(() => allocations, {
      waitingOption: () => "--begin=now+1hour",
      huge: { shape: { ...minutes(5), memoryBytes: 1024 ** 5 } },
      everythingAbout: async (id, { cluster }) =>
        (
          await Promise.all([
            cluster.command("scontrol", "show", "job", "-dd", id),
            cluster.command("squeue", "--jobs", id, "--format=%all"),
            cluster.command("sacct", "--jobs", id, "--format=ALL", "--parsable2"),
            cluster.command("sacct", "--jobs", id, "--env-vars"),
            cluster.command("sacct", "--jobs", id, "--batch-script"),
          ])
        ).join("\n"),
      queueDaemonPid: ({ cluster }) =>
        Number(readFileSync(join(cluster.folder, "run/slurmctld.pid"), "utf8")),
    });
  });

  describe.each(SCENARIOS)("$name", (scenario) => {
    it(`ends as ${scenario.expected.join(", then ")}`, async (context) => {
      if (
        scenario.needsMemoryLimit &&
        readFileSync(join(allocations.cluster.folder, "memory-limited"), "utf8").trim() === "no"
      )
        context.skip("control groups cannot limit memory on this machine");
      expect(await scenario.outcome()).toEqual(scenario.expected);
    });
  });

  it("leaves nothing in the queue and no process once everything is canceled", async () => {
    await Promise.allSettled(SCENARIOS.map((scenario) => scenario.outcome()));
    const { provider, cluster } = allocations;
    for (const { id } of await provider.list("daruma-", SIGNAL)) await provider.cancel(id, "now", SIGNAL);
    await until("the queue is empty", async () => (await cluster.command("squeue", "--noheader")) === "");
    await noPilotIsLeft(allocations);
  });
});

const SCENARIOS: readonly Scenario[] = [
  new Scenario("a pilot that exits with 0", ["DRAINED"], (name) => ended(name, "exit-0")),
  new Scenario("a pilot that exits with 3", ["PILOT_FAILED"], (name) => ended(name, "exit-3")),
  new Scenario("a script that is killed", ["PILOT_FAILED"], (name) => ended(name, "kill-script")),
  new Scenario("a pilot that never reached the server", ["PILOT_FAILED"], (name) =>
    ended(name, "exit-0", {}, { registered: false }),
  ),
  new Scenario("a pilot over the memory", ["OOM"], (name) => ended(name, "eat"), true),
  new Scenario(
    "a child over the memory, and the pilot goes on",
    ["OOM", "ready", "the child is gone"],
    async (name) => [...(await ended(name, "child-eats")), ...stepsIn(allocations.log(name))],
    true,
  ),
  new Scenario(
    "the time limit, drained in time",
    ["DRAINED", "ready", "stop 1", "finished"],
    async (name) => [
      ...(await ended(name, "stay", { shape: minutes(1), drainMs: 30_000 })),
      ...stepsIn(allocations.log(name)),
    ],
  ),
  new Scenario("the time limit, with a pilot that stays", ["WALLTIME"], (name) =>
    ended(name, "stubborn", { shape: minutes(1) }),
  ),
  new Scenario(
    "a job that somebody else cancels",
    ["CANCELED", "ready", "stop 1", "stop 2", "handed back"],
    async (name) => {
      const id = await started(name, "stay");
      await allocations.cluster.command("scancel", id);
      return [...(await verdicts(id)), ...stepsIn(allocations.log(name))];
    },
  ),
  new Scenario("a node that is set down", ["NODE_LOST"], async (name) => {
    const node = nodeNumber(4);
    const id = await started(name, "stay", on(node));
    await allocations.cluster.command("scontrol", "update", `nodename=${node}`, "state=down", "reason=test");
    return verdicts(id);
  }),
  new Scenario("a machine that dies", ["NODE_LOST"], async (name) => {
    const node = nodeNumber(5);
    const id = await started(name, "stay", on(node));
    killMachine(allocations.cluster, node, id);
    return verdicts(id);
  }),
  new Scenario("a preemption that ends it", ["PREEMPTED"], async (name) => {
    const spot = on(nodeNumber(3));
    const id = await started(name, "stubborn", { ...spot, target: "spotkill", shape: cpus(2) });
    const requeued = await started(PREEMPTED_AND_REQUEUED, "stubborn", {
      ...spot,
      target: "spot",
      shape: cpus(2),
      profile: requeue(),
    });
    REQUEUED_ID.resolve(requeued);
    await allocations.submit("urgent", "exit-0", { ...spot, target: "urgent", shape: cpus(4) });
    return verdicts(id);
  }),
  new Scenario("a preemption that requeues it", ["PREEMPTED"], async () => {
    const id = await REQUEUED_ID.promise;
    const incarnations = await allocations.end(id);
    await allocations.provider.cancel(id, "now", SIGNAL);
    return incarnations.slice(0, 1).map((status) => allocations.verdict(status));
  }),
  new Scenario(
    "a requeue by an operator",
    ["REQUEUED", "1 running", "--restart=0", "--restart=1"],
    async (name) => {
      const id = await started(name, "stay", { profile: requeue() });
      await allocations.cluster.command("scontrol", "requeue", id);
      const [first] = await allocations.end(id);
      // By itself it would wait for two minutes, and Slurm says so only when it has cleaned up.
      await until("the pilot is ready again", async () => {
        await allocations.cluster
          .command("scontrol", "update", `jobid=${id}`, "StartTime=now")
          .catch(() => {});
        return allocations.isReady(name, 2);
      });
      const second = (await allocations.status(id))[1]!;
      const restarts = allocations.log(name).match(/--restart=\d+/g) ?? [];
      await allocations.provider.cancel(id, "now", SIGNAL);
      return [allocations.verdict(first!), `${second.restart} ${second.phase}`, ...restarts];
    },
  ),
  new Scenario("an output file that cannot be written", ["LAUNCH_FAILED"], (name) =>
    ended(name, "stay", { logFile: "/nonexistent/log" }, { registered: false }),
  ),
  new Scenario("a job that is held", ["NEVER_STARTS"], (name) =>
    ended(name, "stay", { profile: { options: ["--hold"], setup: [], program: [] } }),
  ),
];

const PREEMPTED_AND_REQUEUED = "preempted-and-requeued";
const REQUEUED_ID = later<string>();

async function ended(
  name: string,
  mode: string,
  change: Partial<AllocationSpec> = {},
  known: Partial<KnownOfPilot> = {},
): Promise<string[]> {
  return verdicts(await allocations.submit(name, mode, change), known);
}

async function started(name: string, mode: string, change: Partial<AllocationSpec> = {}): Promise<string> {
  const id = await allocations.submit(name, mode, change);
  await allocations.ready(name);
  return id;
}

async function verdicts(id: string, known: Partial<KnownOfPilot> = {}): Promise<string[]> {
  return (await allocations.end(id, known)).map((status) => allocations.verdict(status, known));
}

function nodeNumber(number: number): string {
  return allocations.cluster.nodes[number - 1]!;
}

function on(node: string): Partial<AllocationSpec> {
  return { excludeNodes: allocations.cluster.nodes.filter((name) => name !== node) };
}

function minutes(count: number): AllocationSpec["shape"] {
  return { nodes: 1, cpus: 1, memoryBytes: 100 * 1024 ** 2, gpus: 0, runtimeMs: count * MINUTE_MS };
}

function cpus(count: number): AllocationSpec["shape"] {
  return { ...minutes(5), cpus: count };
}

function requeue(): AllocationSpec["profile"] {
  return { options: ["--requeue"], setup: [], program: [] };
}

function later<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
