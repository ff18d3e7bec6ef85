import { describe, expect, it } from "vitest";
import { MAIN } from "../../../../test/support/fake-cluster.js";
import { demand, settingsOf } from "../../../../test/support/supervisor-bench.js";
import { definitionOf } from "../../../../test/support/workflow-text.js";
import type { Demand, JobNeeds } from "../scale/demand.js";
import type { LiveAllocation } from "../scale/plan-allocations.js";
import type { Lane } from "./lane.js";
import { bindSchedulers, type LanesInput, planLanes } from "./plan-lanes.js";

const MIB = 1024 ** 2;
const GPU = {
  ...MAIN,
  name: "gpu",
  isDefault: false,
  perNode: { cpus: 8, memoryBytes: 9000 * MIB, gpus: 2 },
};
const RULES =
  "    schedulers: { accounts: [other], partitions: [gpu], options: [constraint], idle_exit: 5m }\n";
const SETTINGS = settingsOf(RULES);
const NEW = { suspended: null, failures: 0, retryAt: null, submittedAt: null };

function laneOf(scheduler: string, more = ""): Lane {
  const text = `slurm_schedulers: [{ name: s, ${scheduler} }]\njobs: [{ name: a, command: x }]\n${more}`;
  const [request] = bindSchedulers(definitionOf(text), [SETTINGS]).schedulers!;
  return { tag: request!.tag!, request: request! };
}

const nodes = (keys: string) =>
  `actions: [{ trigger_type: on_workflow_start, action_type: schedule_nodes, scheduler: s, ${keys} }]`;

function jobsOf(lane: Lane | undefined, count: number, needs: Partial<JobNeeds> = {}, from = 1): Demand[] {
  const more = lane === undefined ? {} : { lane };
  return Array.from({ length: count }, (_, at) => ({ ...demand(from + at, needs), ...more }));
}

function plan(demands: readonly Demand[], input: Partial<LanesInput> = {}) {
  return planLanes({
    ...{ settings: SETTINGS, targets: [MAIN, GPU], demands, live: [], history: NEW, now: 1_000_000 },
    refused: new Map(),
    ...input,
  });
}

const live = (lane: string | null): LiveAllocation => ({
  ...{ shape: { nodes: 1, cpus: 4, memoryBytes: 4000 * MIB, gpus: 0, runtimeMs: 3_600_000 } },
  ...{ jobId: null, usableMs: 3_600_000, hasPilot: true, endsUnexplained: false, lane },
});

describe("allocations for files with schedulers", () => {
  it("have the partition, account, options, time and size of the scheduler, and its tag alone", () => {
    const lane = laneOf(
      'account: other, partition: gpu, walltime: "02:00:00", mem: 5000M, gres: "gpu:1", ntasks_per_node: 6, extra: "--constraint=a"',
    );
    const { submit, impossible } = plan(jobsOf(lane, 2, { runtimeMs: 60_000 }));
    expect(impossible).toEqual([]);
    expect(submit).toHaveLength(1);
    expect(submit[0]).toMatchObject({
      shape: { nodes: 1, cpus: 6, memoryBytes: 5000 * MIB, gpus: 1, runtimeMs: 7_200_000 },
      settings: { tags: [lane.tag], account: "other", target: "gpu", options: ["--constraint=a"] },
    });
  });

  it("are as large as their jobs need if that is more, and never larger than a node", () => {
    const small = laneOf("mem: 100M, ntasks_per_node: 1, walltime: 1m");
    const [first] = plan(jobsOf(small, 1, { cpus: 3, memoryBytes: 2000 * MIB, runtimeMs: 7_200_000 })).submit;
    expect(first!.shape).toMatchObject({ cpus: 3, memoryBytes: 2256 * MIB, runtimeMs: 7_320_000 });
    const [whole] = plan(jobsOf(laneOf("mem: 0, ntasks_per_node: 100"), 1)).submit;
    expect(whole!.shape).toMatchObject({ cpus: 4, memoryBytes: 4000 * MIB });
  });

  it("take only jobs of the same scheduler", () => {
    const [one, two] = [laneOf("mem: 1G"), laneOf("mem: 2G")];
    const waiting = [...jobsOf(one, 1), ...jobsOf(two, 1, {}, 2), ...jobsOf(undefined, 1, {}, 3)];
    expect(plan(waiting).submit.map(({ jobs }) => jobs)).toEqual([[1], [2], [3]]);
    expect(plan(waiting, { live: [live(one.tag)] }).submit.map(({ jobs }) => jobs)).toEqual([[2], [3]]);
    expect(plan(waiting, { live: [live(null)] }).submit.map(({ jobs }) => jobs)).toEqual([[1], [2]]);
  });

  it("share the limits of the cluster", () => {
    const settings = settingsOf(`${RULES}    limits: { max_allocations: 2 }\n`);
    const waiting = [laneOf("mem: 1G"), laneOf("mem: 2G"), laneOf("mem: 3G")].flatMap((lane, at) =>
      jobsOf(lane, 1, {}, at + 1),
    );
    expect(plan(waiting, { settings })).toMatchObject({
      submit: [{ jobs: [1] }, { jobs: [2] }],
      waits: { kind: "max_allocations" },
    });
  });

  it("have no more nodes at a time than the file says, but one", () => {
    const lane = laneOf("nodes: 1", nodes("num_allocations: 2"));
    const waiting = jobsOf(lane, 4, { cpus: 4, runtimeMs: 3_000_000 });
    expect(plan(waiting)).toMatchObject({ submit: [{}, {}], waits: { kind: "max_allocations" } });
    const busy = { ...live(lane.tag), usableMs: 0 };
    expect(plan(waiting, { live: [busy] }).submit).toHaveLength(1);
    expect(plan(waiting, { live: [busy, busy] }).submit).toHaveLength(0);
    expect(plan(jobsOf(lane, 1, { nodes: 3 })).submit).toHaveLength(1);
  });

  it("run at most so many jobs at a time as the file says, and ask for no more processors than these need", () => {
    const lane = laneOf("mem: 1G", nodes("max_parallel_jobs: 2"));
    const [only] = plan(jobsOf(lane, 6, { cpus: 1, runtimeMs: 60_000 })).submit;
    expect(only!.shape.cpus).toBe(2);
    expect(only!.settings!.allocation.slots).toBe(2);
  });

  it.each([
    ["compute_node_wait_for_new_jobs_seconds: 120", 60_000, 120_000],
    ["compute_node_wait_for_new_jobs_seconds: 900", 60_000, 300_000],
    ["compute_node_wait_for_new_jobs_seconds: 0", 60_000, 1_000],
    ["compute_node_ignore_workflow_completion: true", 60_000, 300_000],
    ["compute_node_expiration_buffer_seconds: 90", 90_000, 60_000],
    ["compute_node_expiration_buffer_seconds: 1", 60_000, 60_000],
  ])("with %s drain %i ms before their end and stay %i ms without jobs", (line, drainMs, idleExitMs) => {
    const [only] = plan(jobsOf(laneOf("mem: 1G", line), 1)).submit;
    expect(only!.settings!.allocation).toMatchObject({ drainMs, idleExitMs });
  });

  it("are not made where the batch system has refused one, or the settings no longer allow it", () => {
    const lane = laneOf("account: other");
    const waiting = [...jobsOf(lane, 1), ...jobsOf(undefined, 1, {}, 2)];
    expect(plan(waiting, { refused: new Map([[lane.tag, "no such account"]]) })).toMatchObject({
      submit: [{ jobs: [2] }],
      impossible: [{ jobId: 1, reason: "slurm refuses an allocation for scheduler s: no such account" }],
    });
    expect(plan(waiting, { settings: settingsOf() })).toMatchObject({
      submit: [{ jobs: [2] }],
      impossible: [{ jobId: 1 }],
    });
  });
});
