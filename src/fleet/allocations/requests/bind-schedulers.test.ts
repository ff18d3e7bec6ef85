import { describe, expect, it } from "vitest";
import { definitionOf } from "../../../../test/support/workflow-text.js";
import type { DarumaError } from "../../../core/errors/errors.js";
import { loadSettings } from "../../../file/settings/load-settings.js";
import type { ClusterSettings } from "../../../file/settings/settings.js";
import { bindSchedulers } from "./plan-lanes.js";

function clustersOf(text: string): readonly ClusterSettings[] {
  const loaded = loadSettings(text, "daruma.config.yaml");
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.value.clusters;
}

const HPC = (keys = "") =>
  clustersOf(`clusters:\n  hpc: { type: slurm, account: own, partition: main${keys} }\n`);
const file = (scheduler: string, more = "") =>
  definitionOf(
    `slurm_schedulers: [{ name: s, ${scheduler} }, { name: t }]\njobs: [{ name: a, command: x, resource_requirements: { num_cpus: 2 } }, { name: b, command: x, scheduler: t }]${more}`,
  );

function refusalOf(scheduler: string, keys = ""): string {
  try {
    bindSchedulers(file(scheduler), HPC(keys));
    return "allowed";
  } catch (error) {
    const { code, message } = error as DarumaError;
    expect(code).toBe("SCHEDULER_NOT_ALLOWED");
    return message;
  }
}

describe("the jobs of a file with schedulers", () => {
  it("run on the first cluster of type slurm that takes them, with tags of their own for each scheduler", () => {
    const clusters = clustersOf(`clusters:
  sge: { type: gridengine }
  closed: { type: slurm, schedulers: false }
  hpc: { type: slurm, tags: [big, fast] }
`);
    const { steps, schedulers } = bindSchedulers(file("mem: 1G"), clusters);
    const tags = schedulers!.map(({ tag }) => tag);
    expect(tags[0]).toMatch(/^hpc\/s-[0-9a-f]{10}$/);
    expect(tags[1]).toMatch(/^hpc\/t-[0-9a-f]{10}$/);
    expect(steps.map(({ runsOn }) => runsOn)).toEqual([[tags[0]], [tags[1]]]);
  });

  it("have the same tags if they ask for the same, and others if they do not", () => {
    const tagOf = (scheduler: string) => bindSchedulers(file(scheduler), HPC()).schedulers![0]!.tag;
    expect(tagOf("mem: 1G")).toBe(tagOf("mem: 1024M"));
    expect(tagOf("mem: 1G")).not.toBe(tagOf("mem: 2G"));
  });

  it("run wherever there is a worker if no cluster takes them", () => {
    const definition = file("account: anybody");
    expect(bindSchedulers(definition, [])).toBe(definition);
    expect(bindSchedulers(definition, HPC(", schedulers: false"))).toBe(definition);
  });

  it("are left alone the second time, as when a run is forked, but for what is no longer allowed", () => {
    const allowed = HPC(", schedulers: { accounts: [other] }");
    const bound = bindSchedulers(file("account: other"), allowed);
    expect(bindSchedulers(bound, allowed)).toEqual(bound);
    expect(() => bindSchedulers(bound, HPC())).toThrow(/asks for account other/);
  });

  it("take one place each among those of a worker that runs so many at a time", () => {
    const action =
      "\nactions: [{ trigger_type: on_workflow_start, action_type: schedule_nodes, scheduler: s, max_parallel_jobs: 3 }]";
    const resourcesIn = (more: string) =>
      bindSchedulers(file("mem: 1G", more), HPC()).steps.map(({ resources }) => resources?.slots);
    expect(resourcesIn(action)).toEqual([1, undefined]);
    expect(resourcesIn("")).toEqual([undefined, undefined]);
  });

  it.each([
    ["account: own, partition: main, gres: gpu, walltime: 4h, mem: 1T, nodes: 1000", "allowed"],
    ["account: other", "account other"],
    ["partition: gpu", "partition gpu"],
    ["qos: high", "qos high"],
    ["gres: gpu:a100", "gres gpu:a100"],
    ["tmp: 10G", "the option --tmp"],
    ['extra: "--constraint=a"', "the option --constraint"],
    ['extra: "--wrap=id"', "the option --wrap"],
    ['extra: "--con=a"', "the option --con"],
  ])("with %s are %s by settings that say nothing of it", (scheduler, expected) => {
    const message = refusalOf(scheduler);
    if (expected === "allowed") expect(message).toBe("allowed");
    else
      expect(message).toBe(
        `scheduler s asks for ${expected}, which the settings of the cluster hpc do not allow`,
      );
  });

  it.each([
    ["account: other", "accounts: [other]"],
    ["partition: gpu", "partitions: [gpu]"],
    ["qos: high", "qos: [high]"],
    ["gres: gpu:a100", "gres: [gpu:a100]"],
    ["tmp: 10G", "options: [tmp]"],
    ['extra: "--constraint=a --exclusive"', "options: [constraint, exclusive]"],
    [
      'account: other, partition: gpu, extra: "--constraint=a"',
      "accounts: any, partitions: any, options: any",
    ],
  ])("with %s are allowed by %s", (scheduler, rules) => {
    expect(refusalOf(scheduler, `, schedulers: { ${rules} }`)).toBe("allowed");
  });

  it.each([
    "--wrap=id",
    "--job-name=x",
    "--export=ALL",
    "--output=/etc/x",
    "--array=1-9",
    "--sig=TERM",
    "--account=x",
  ])("never pass on %s, whatever the settings allow", (option) => {
    const rules = ", schedulers: { options: any }";
    expect(refusalOf(`extra: "${option}"`, rules)).toMatch(/^scheduler s: --[a-z-]+ is set by Daruma/);
  });
});
