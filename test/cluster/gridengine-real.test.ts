import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AllocationCode } from "../../src/fleet/allocations/allocation-end.js";
import type { AllocationSpec, AllocationStatus, KnownOfPilot } from "../../src/fleet/allocations/provider.js";
import { REAL_CLUSTER_TIMEOUT_MS, RealAllocations, until } from "../support/cluster/real-allocations.js";
import { Scenario } from "../support/cluster/scenario.js";
import { clusterSuite, startGridEngine, whyNoCluster } from "../support/cluster/test-cluster.js";
import { killPilot, noPilotIsLeft, providerConformance, stepsIn } from "./provider-conformance.js";

const SIGNAL = new AbortController().signal;
const SUITE = clusterSuite("gridengine", "a real Grid Engine");
const TIMEOUT = { timeout: REAL_CLUSTER_TIMEOUT_MS };

let allocations: RealAllocations;

describe.skipIf(whyNoCluster("gridengine") !== null)(SUITE, TIMEOUT, () => {
  beforeAll(async () => {
    allocations = new RealAllocations(await startGridEngine());
    for (const scenario of SCENARIOS) scenario.begin();
  }, REAL_CLUSTER_TIMEOUT_MS);
  afterAll(() => allocations.dispose(), REAL_CLUSTER_TIMEOUT_MS);

  describe("an allocation", () => {
    providerConformance(() => allocations, {
      waitingOption: () => `-a ${inAnHour()}`,
      huge: { shape: { ...seconds(60), cpus: 500 }, profile: { ...plain(), memoryResource: "h_vmem" } },
      everythingAbout: async (id, { cluster }) =>
        (
          await Promise.all([
            cluster.command("qstat", "-j", id),
            cluster.command("qstat", "-j", id, "-xml"),
            cluster.command("qstat", "-r", "-ext", "-xml"),
          ])
        ).join("\n"),
      queueDaemonPid: ({ cluster }) =>
        Number(readFileSync(join(cluster.folder, "spool/qmaster/qmaster.pid"), "utf8")),
    });
  });

  describe.each(SCENARIOS)("$name", (scenario) => {
    it(`ends as ${scenario.expected.join(", then ")}`, async () => {
      expect(await scenario.outcome()).toEqual(scenario.expected);
    });
  });

  describe("a host that is lost", () => {
    it("ends its jobs as requeued, which Grid Engine does not tell from a reschedule", async () => {
      await Promise.allSettled(SCENARIOS.map((scenario) => scenario.outcome()));
      const id = await started("lost-host", "stay", { profile: rerunnable() });
      process.kill(
        Number(readFileSync(join(allocations.cluster.folder, "run/execd.pid"), "utf8")),
        "SIGKILL",
      );
      const incarnations = await requeuedOnce(id);
      expect(incarnations.map((status) => allocations.verdict(status))).toEqual(["REQUEUED?", "pending"]);
      expect(incarnations.map(({ restart }) => restart)).toEqual([0, 1]);
      // The host is only deaf: what ran on it runs on.
      killPilot(allocations, "lost-host");
      await allocations.provider.cancel(id, "now", SIGNAL);
    });
  });

  it("leaves nothing in the queue and no process once everything is canceled", async () => {
    const { provider, cluster } = allocations;
    for (const { id } of await provider.list("daruma-", SIGNAL)) await provider.cancel(id, "now", SIGNAL);
    await until("the queue is empty", async () => (await cluster.command("qstat")) === "");
    await noPilotIsLeft(allocations);
  });
});

const SCENARIOS: readonly Scenario[] = [
  new Scenario("a pilot that exits with 0", ["DRAINED"], (name) => ended(name, "exit-0")),
  new Scenario("a pilot that exits with 3", ["PILOT_FAILED"], (name) => ended(name, "exit-3")),
  new Scenario("a script that is killed", ["PILOT_FAILED?"], (name) =>
    ended(name, "kill-script", {}, {}, "PILOT_FAILED"),
  ),
  new Scenario("a pilot that never reached the server", ["PILOT_FAILED"], (name) =>
    ended(name, "exit-0", {}, { registered: false }),
  ),
  new Scenario(
    "the time limit, drained in time",
    ["DRAINED", "ready", "stop 1", "finished"],
    async (name) => [
      ...(await ended(name, "stay", { shape: seconds(60), drainMs: 45_000 })),
      ...stepsIn(allocations.log(name)),
    ],
  ),
  new Scenario("the time limit, with a pilot that stays", ["WALLTIME"], (name) =>
    ended(name, "stubborn", { shape: seconds(8), drainMs: 2_000 }),
  ),
  new Scenario("processes that are over the memory together", ["OOM"], (name) =>
    ended(name, "two-eat", {
      profile: { ...plain(), memoryResource: "h_vmem" },
      shape: { ...seconds(60), memoryBytes: 600 * 1024 ** 2 },
    }),
  ),
  new Scenario(
    "a job that somebody else deletes",
    ["CANCELED", "ready", "stop 1", "stop 2", "handed back"],
    async (name) => {
      const id = await started(name, "stay");
      await allocations.cluster.command("qdel", id);
      return [...(await verdicts(id)), ...stepsIn(allocations.log(name))];
    },
  ),
  new Scenario("a reschedule by an operator", ["REQUEUED?", "restart 1"], async (name) => {
    const id = await started(name, "stay", { profile: rerunnable() });
    await allocations.cluster.command("qmod", "-rj", id);
    const [first, second] = await requeuedOnce(id);
    await allocations.provider.cancel(id, "now", SIGNAL);
    // Grid Engine does not always end the first one, so that two may run at once.
    killPilot(allocations, name);
    return [allocations.verdict(first!), `restart ${second?.restart}`];
  }),
  new Scenario("an output file that cannot be written", ["LAUNCH_FAILED", "asked"], async (name) => {
    const id = await allocations.submit(name, "stay", { logFile: "/nonexistent/log" });
    let verdict = "";
    // In error it never starts, and why is known when accounting has its record.
    await until("it is known why it could not start", async () => {
      const [status] = await allocations.end(id, { registered: false });
      verdict = allocations.verdict(status!, { registered: false });
      return verdict !== "NEVER_STARTS";
    });
    // It stays in the queue in error until somebody removes it.
    return [verdict, await allocations.provider.cancel(id, "now", SIGNAL)];
  }),
  new Scenario("a job that is held", ["NEVER_STARTS"], async (name) => {
    const id = await allocations.submit(name, "stay", {
      profile: { ...plain(), options: [`-a ${inAnHour()}`] },
    });
    await allocations.cluster.command("qhold", id);
    return verdicts(id);
  }),
];

async function ended(
  name: string,
  mode: string,
  change: Partial<AllocationSpec> = {},
  known: Partial<KnownOfPilot> = {},
  guess?: AllocationCode,
): Promise<string[]> {
  return verdicts(await allocations.submit(name, mode, change), known, guess);
}

async function started(name: string, mode: string, change: Partial<AllocationSpec> = {}): Promise<string> {
  const id = await allocations.submit(name, mode, change);
  await allocations.ready(name);
  return id;
}

async function verdicts(
  id: string,
  known: Partial<KnownOfPilot> = {},
  guess?: AllocationCode,
): Promise<string[]> {
  return (await allocations.end(id, known, guess)).map((status) => allocations.verdict(status, known));
}

/** Both incarnations: the record of the first may be there before the queue tells of the second. */
async function requeuedOnce(id: string): Promise<readonly AllocationStatus[]> {
  let incarnations: readonly AllocationStatus[] = [];
  await until(`allocation ${id} is back in the queue`, async () => {
    incarnations = await allocations.end(id, {}, "REQUEUED");
    return incarnations[1] !== undefined && incarnations[1].phase !== "unknown";
  });
  return incarnations;
}

function seconds(count: number): AllocationSpec["shape"] {
  return { nodes: 1, cpus: 1, memoryBytes: 100 * 1024 ** 2, gpus: 0, runtimeMs: count * 1000 };
}

function plain(): AllocationSpec["profile"] {
  return { options: [], setup: [], program: [] };
}

function rerunnable(): AllocationSpec["profile"] {
  return { ...plain(), options: ["-r y"] };
}

/** `YYYYMMDDhhmm`, local time. */
function inAnHour(): string {
  const at = new Date(Date.now() + 3_600_000);
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}${two(at.getHours())}${two(at.getMinutes())}`;
}
