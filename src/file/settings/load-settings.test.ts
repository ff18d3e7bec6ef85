import { describe, expect, it } from "vitest";
import { loadSettings, settingsJsonSchema } from "./load-settings.js";
import { clusterFor } from "./settings.js";

const load = (text: string) => loadSettings(text, "daruma.config.yaml");

function problemsOf(text: string): string[] {
  const loaded = load(text);
  if (loaded.ok) throw new Error("it is valid");
  return loaded.problems.map(
    ({ line, column, code, path, message, hint }) =>
      `${line}:${column} ${code} ${path}: ${message} | ${hint}`,
  );
}

describe("a settings file", () => {
  it("with a cluster of which only the type is named has the defaults of the documentation", () => {
    const loaded = load("clusters:\n  hpc:\n    type: slurm\n");
    expect(loaded).toEqual({
      ok: true,
      warnings: [],
      value: {
        breakers: [],
        limits: {},
        retention: { runs: null, logs: null, artifacts: null },
        channels: [],
        notify: [],
        clusters: [
          {
            ...{
              name: "hpc",
              type: "slurm",
              tags: ["hpc"],
              account: null,
              target: null,
              qos: null,
              gres: null,
            },
            ...{
              parallelEnvironment: null,
              memoryResource: null,
              options: [],
              setup: [],
              program: ["daruma"],
            },
            ...{ folder: null, server: null, autoSchedule: true },
            allocation: {
              ...{ cpus: null, memoryBytes: null, gpus: null },
              ...{
                runtimeMs: 3_600_000,
                jobRuntimeMs: 600_000,
                jobMemoryBytes: 1024 ** 3,
                drainMs: 60_000,
                idleExitMs: 60_000,
              },
            },
            limits: { maxAllocations: 10, maxCpus: null, threshold: 1, cooldownMs: 30_000 },
            schedulers: {
              ...{ accounts: [], partitions: [], qos: [], gres: [], options: [] },
              idleExitMs: 60_000,
            },
          },
        ],
      },
    });
  });

  it("sets every key of a cluster", () => {
    const loaded = load(`
clusters:
  big:
    type: slurm
    tags: [hpc, gpu]
    account: project-7
    partition: main
    qos: normal
    gres: gpu:a100
    options: ["--constraint=avx2"]
    setup: [module load node]
    program: [/opt/node, /opt/daruma/main.js]
    folder: /shared/daruma
    server: https://login1:7420
    allocation: { cpus: 16, memory: 64g, gpus: 2, runtime: 4h, job_runtime: 5m, job_memory: 2g, drain: 2m, idle_exit: 30s }
    limits: { max_allocations: 3, max_cpus: 48, threshold: 5, cooldown: 1m }
    auto_schedule_on_ready_jobs: false
    schedulers: { accounts: [project-8], partitions: any, qos: [high], gres: [gpu:h100], options: [constraint], idle_exit: 10m }
`);
    expect(loaded.ok && loaded.value.clusters).toEqual([
      {
        ...{ name: "big", type: "slurm", tags: ["hpc", "gpu"], account: "project-7", target: "main" },
        ...{
          qos: "normal",
          gres: "gpu:a100",
          parallelEnvironment: null,
          memoryResource: null,
          options: ["--constraint=avx2"],
        },
        ...{ setup: ["module load node"], program: ["/opt/node", "/opt/daruma/main.js"] },
        ...{ folder: "/shared/daruma", server: "https://login1:7420", autoSchedule: false },
        allocation: {
          ...{ cpus: 16, memoryBytes: 64 * 1024 ** 3, gpus: 2, runtimeMs: 14_400_000 },
          ...{ jobRuntimeMs: 300_000, jobMemoryBytes: 2 * 1024 ** 3, drainMs: 120_000, idleExitMs: 30_000 },
        },
        limits: { maxAllocations: 3, maxCpus: 48, threshold: 5, cooldownMs: 60_000 },
        schedulers: {
          ...{ accounts: ["project-8"], partitions: "any", qos: ["high"], gres: ["gpu:h100"] },
          ...{ options: ["constraint"], idleExitMs: 600_000 },
        },
      },
    ]);
  });

  it("says where an unknown key stands and what was meant", () => {
    expect(problemsOf("clusters:\n  hpc:\n    type: slurm\n    acount: me\nclustres: {}\n")).toEqual([
      "4:5 UNKNOWN_KEY clusters.hpc.acount: unknown key `acount`, did you mean `account`? | Rename it to `account`.",
      "5:1 UNKNOWN_KEY clustres: unknown key `clustres`, did you mean `clusters`? | Rename it to `clusters`.",
    ]);
  });

  it("has breakers with their defaults", () => {
    const loaded = load("breakers: { payments-api: { failures: 3, release: 30/min }, db: {} }\n");
    const rest = {
      withinMs: 600_000,
      classes: ["transient_runtime"],
      probeEveryMs: 120_000,
      maxOpenMs: 21_600_000,
    };
    expect(loaded).toMatchObject({
      ok: true,
      value: {
        breakers: [
          { name: "payments-api", failures: 3, releasePerSecond: 0.5, ...rest },
          { name: "db", failures: 5, releasePerSecond: 10, ...rest },
        ],
      },
    });
  });

  it.each([
    ["the class of lost workers", "classes: [infrastructure]", "1:30 INVALID_VALUE breakers.api.classes[0]"],
    ["no class", "classes: []", "1:29 INVALID_VALUE breakers.api.classes"],
    ["no failures", "failures: 0", "1:30 INVALID_VALUE breakers.api.failures"],
    ["a rate of nothing", "release: 0/s", "1:29 INVALID_VALUE breakers.api.release"],
    ["an unknown key", "probe: 1m", "1:20 UNKNOWN_KEY breakers.api.probe"],
  ])("refuses a breaker with %s, and says where", (_, keys, told) => {
    expect(problemsOf(`breakers: { api: { ${keys} } }`)[0]).toContain(told);
  });

  it("refuses a breaker whose name has a blank", () => {
    expect(problemsOf('breakers: { "a b": {} }')[0]).toMatch(/^1:13 /);
  });

  it("refuses keys of the other scheduler", () => {
    expect(
      problemsOf("clusters:\n  sge:\n    type: gridengine\n    partition: main\n    qos: high\n"),
    ).toEqual([
      "4:5 INVALID_VALUE clusters.sge.partition: `partition` is a key of type slurm, and this cluster is of type gridengine | Write `queue` for Grid Engine.",
      "5:5 INVALID_VALUE clusters.sge.qos: `qos` is a key of type slurm, and this cluster is of type gridengine | Remove it, or set it with `options`.",
    ]);
    expect(problemsOf("clusters: { hpc: { type: slurm, queue: main.q } }")[0]).toContain(
      "Write `partition` for Slurm.",
    );
  });

  it.each([
    ["an unknown type", "type: slrum", "INVALID_VALUE"],
    ["an account with a blank", "type: slurm\n    account: my project", "INVALID_VALUE"],
    ["an account that is an option", "type: slurm\n    account: --wrap=id", "INVALID_VALUE"],
    ["an option without a dash", "type: slurm\n    options: [constraint]", "INVALID_VALUE"],
    ["an option of two lines", 'type: slurm\n    options: ["--a\\n--b"]', "INVALID_VALUE"],
    ["a tag with a comma", 'type: slurm\n    tags: ["a,b"]', "INVALID_VALUE"],
    ["a folder that is not absolute", "type: slurm\n    folder: shared", "INVALID_VALUE"],
    ["an address without http", "type: slurm\n    server: login1:7420", "INVALID_VALUE"],
    ["no allocations at all", "type: slurm\n    limits: { max_allocations: 0 }", "INVALID_VALUE"],
    [
      "an option with dashes among those of files",
      "type: slurm\n    schedulers: { options: [--constraint] }",
      "INVALID_VALUE",
    ],
    ["schedulers of files on Grid Engine", "type: gridengine\n    schedulers: {}", "INVALID_VALUE"],
    ["no type", "tags: [a]", "MISSING_KEY"],
    ["text for a number", "type: slurm\n    limits: { max_cpus: many }", "WRONG_TYPE"],
  ])("refuses %s", (_, keys, code) => {
    const problems = problemsOf(`clusters:\n  hpc:\n    ${keys}\n`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(` ${code} `);
  });

  it("can keep jobs of files with schedulers away, which Grid Engine always does", () => {
    const rulesOf = (keys: string) => {
      const loaded = load(`clusters: { hpc: { ${keys} } }`);
      return loaded.ok ? loaded.value.clusters[0]!.schedulers : loaded.problems;
    };
    expect(rulesOf("type: slurm, schedulers: false")).toBeNull();
    expect(rulesOf("type: gridengine")).toBeNull();
    expect(rulesOf("type: slurm, schedulers: true")).toEqual(rulesOf("type: slurm"));
  });

  it("describes itself as JSON Schema with the same keys", () => {
    const schema = settingsJsonSchema() as { properties: object; $defs: { cluster: { properties: object } } };
    expect(Object.keys(schema.properties)).toEqual([
      ...["clusters", "breakers", "limits", "retention", "channels", "notify"],
    ]);
    expect(Object.keys(schema.$defs.cluster.properties)).toContain("auto_schedule_on_ready_jobs");
  });
});

describe("the cluster of a step", () => {
  const clusters = [{ tags: ["hpc", "gpu"] }, { tags: ["hpc"] }, { tags: ["sge"] }];

  it("is the first that has all the tags it asks for", () => {
    expect(clusterFor(["hpc"], clusters)).toBe(clusters[0]);
    expect(clusterFor(["gpu", "hpc"], clusters)).toBe(clusters[0]);
    expect(clusterFor(["sge"], clusters)).toBe(clusters[2]);
  });

  it("is none for a step that asks for nothing, or for a tag that no cluster has", () => {
    expect(clusterFor([], clusters)).toBeNull();
    expect(clusterFor(["hpc", "linux"], clusters)).toBeNull();
  });
});
