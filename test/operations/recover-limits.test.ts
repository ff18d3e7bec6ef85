import { describe, expect, it } from "vitest";
import { operateThrough } from "../../src/host/local-operate.js";
import type { InputOf } from "../../src/operations/client.js";
import type { ClusterControl, Context } from "../../src/operations/context.js";
import { FakeCluster, MAIN } from "../support/fake-cluster.js";
import { callIn } from "../support/operation-bench.js";
import { Stage } from "../support/stage.js";
import { settingsOf } from "../support/supervisor-bench.js";

const MIB = 1024 ** 2;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const OOM = { facts: { message: "too much", code: "OOM", exitCode: 137 } } as const;
const WALLTIME = { facts: { message: "too long", code: "WALLTIME", exitCode: 152 } } as const;
const ON_CLUSTER = 'exec: "true", runs_on: [hpc]';

/** Nodes of 4000 MiB, and an hour in the partition: 58 minutes for a job, after start and drain. */
const FLOW = `steps:
  small: { ${ON_CLUSTER}, resource_requirements: { memory: 1g } }
  big: { ${ON_CLUSTER}, resource_requirements: { memory: 3000m } }
  full: { ${ON_CLUSTER}, resource_requirements: { memory: 4000m } }
  slow: { ${ON_CLUSTER}, resource_requirements: { runtime: 50m } }
  here: { exec: "true", resource_requirements: { memory: 3000m } }`;
const SCRIPT = { small: [OOM], big: [OOM], full: [OOM], slow: [WALLTIME], here: [OOM] };

class Bench {
  readonly cluster = new FakeCluster();
  probes = 0;

  private constructor(readonly stage: Stage) {
    this.cluster.targets = [{ ...MAIN, max: { runtimeMs: HOUR } }];
  }

  static async failed(flow = FLOW): Promise<Bench> {
    const stage = await Stage.begin(flow, SCRIPT);
    expect((await stage.rest()).run.status).toBe("failed");
    return new Bench(stage);
  }

  /** A server with one cluster. */
  recover(
    input: Partial<InputOf<"recover_run">> = {},
    settings = settingsOf(),
    changes: Partial<Context> = {},
  ) {
    const { store, runId } = this.stage;
    const clusters: ClusterControl = {
      settings: [settings],
      server: () => "http://login1:7420",
      targets: async () => {
        this.probes += 1;
        return (await this.cluster.probe()).targets;
      },
      planOf: (_name, spec, targets) => this.cluster.plan(spec, targets),
      planNow: async () => null,
      impossible: () => [],
      wake: () => {},
    };
    const context: Context = {
      ...{ store, outputDir: "/out", principal: { name: "me", role: "admin" }, now: () => 0 },
      ...{ operate: operateThrough(store), runner: {} as Context["runner"], clusters, customActions: [] },
      ...changes,
    };
    return callIn(context, "recover_run", { run_id: runId, dry_run: true, ...input });
  }
}

type Answer = Awaited<ReturnType<Bench["recover"]>>;

const explained = ({ jobs }: Answer) => jobs.map(({ step, explanation }) => `${step}: ${explanation}`);

describe("recover_run on a server with a cluster", () => {
  it("raises a job at most to what the cluster can give it, and says whose limit that is", {
    tags: ["T35"],
  }, async () => {
    const bench = await Bench.failed();
    const answer = await bench.recover();
    expect(explained(answer)).toEqual([
      "small: memory 1 GiB -> 1.5 GiB",
      "big: memory 3000 MiB -> 4000 MiB, the limit of cluster hpc",
      "full: memory is at its limit (4000 MiB, cluster hpc)",
      "slow: runtime 50 min -> 58 min, the limit of cluster hpc",
      "here: memory 3000 MiB -> 4500 MiB",
    ]);
    const memory = { amount: 4000 * MIB, cluster: "hpc" };
    expect(answer.jobs.map(({ limit, why, recovers }) => [limit, why, recovers])).toEqual([
      [memory, "raised", true],
      [memory, "raised", true],
      [memory, "at_resource_limit", false],
      [{ amount: 58 * MINUTE, cluster: "hpc" }, "raised", true],
      [null, "raised", true],
    ]);
    expect(bench.probes).toBe(1);
  });

  it("gives the jobs what the dry run said", { tags: ["T35"] }, async () => {
    const bench = await Bench.failed();
    expect((await bench.recover({ dry_run: false })).recovered).toBe(4);
    const events = (await bench.stage.store.readEvents(bench.stage.runId)).map(({ event }) => event);
    const retried = events.find((event) => event.type === "jobs.retried");
    expect(retried?.raised?.map(({ to }) => to)).toEqual([
      ...[1536 * MIB, 4000 * MIB],
      58 * MINUTE,
      4500 * MIB,
    ]);
  });

  it("lets flags and the settings of the cluster lower the limit, and no flag pass it", {
    tags: ["T35"],
  }, async () => {
    const bench = await Bench.failed();
    const limitsOf = async (input: Partial<InputOf<"recover_run">>, settings = settingsOf()) =>
      (await bench.recover(input, settings)).jobs.map(({ limit }) => limit);
    const [own, clusters] = [
      { amount: 3500 * MIB, cluster: null },
      { amount: 4000 * MIB, cluster: "hpc" },
    ];
    const slow = { amount: 58 * MINUTE, cluster: "hpc" };
    expect(await limitsOf({ max_memory: "3500m" })).toEqual([own, own, own, slow, own]);
    const wide = { amount: 64_000 * MIB, cluster: null };
    expect(await limitsOf({ max_memory: "64000m", max_runtime: "9h" })).toEqual([
      ...[clusters, clusters, clusters, slow],
      wide,
    ]);
    const settings = settingsOf("    allocation: { memory: 3200m, drain: 5m }\n");
    const set = { amount: 3200 * MIB, cluster: "hpc" };
    expect(await limitsOf({}, settings)).toEqual([
      ...[set, set, set],
      { amount: 54 * MINUTE, cluster: "hpc" },
      null,
    ]);
  });

  it("leaves a job whose limit the cluster cannot tell now, and recovers the others", {
    tags: ["T35"],
  }, async () => {
    const bench = await Bench.failed();
    bench.cluster.isUnprobed = true;
    const answer = await bench.recover();
    expect(answer.jobs.map(({ step, recovers, why }) => [step, recovers, why])).toEqual([
      ...["small", "big", "full", "slow"].map((step) => [step, false, "limit_unknown"]),
      ["here", true, "raised"],
    ]);
    expect(answer.jobs[0]?.explanation).toBe(
      "the limits of cluster hpc are not known now: scontrol does not answer",
    );
  });

  it("knows the limits without a server too, where it was given the settings", async () => {
    const bench = await Bench.failed();
    const answer = await bench.recover({}, settingsOf(), { runner: null });
    expect(explained(answer)).toContain("big: memory 3000 MiB -> 4000 MiB, the limit of cluster hpc");
  });

  it("has no limit where the cluster has none, and asks none that no raised job runs on", async () => {
    const bench = await Bench.failed();
    bench.cluster.targets = [{ ...MAIN, perNode: {} }];
    expect((await bench.recover()).jobs.every(({ limit, recovers }) => limit === null && recovers)).toBe(
      true,
    );
    const elsewhere = await Bench.failed(FLOW.replaceAll("runs_on: [hpc]", "runs_on: [other]"));
    await elsewhere.recover();
    expect([bench.probes, elsewhere.probes]).toEqual([1, 0]);
  });
});
