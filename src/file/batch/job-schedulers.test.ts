import { describe, expect, it } from "vitest";
import { definitionOf, summaryOf, warningsOf } from "../../../test/support/workflow-text.js";
import { MAX_DURATION_MS } from "../read/amounts.js";

const GIB = 1024 ** 3;
const JOBS = `
jobs:
  - { name: setup, command: x }
  - { name: "work_{i}", command: x, depends_on: [setup], parameters: { i: "1:2" } }
  - { name: end, command: x, depends_on: ["work_{i}"] }
`;
const schedulersOf = (text: string) =>
  Object.fromEntries(definitionOf(text).steps.map(({ id, scheduler }) => [id, scheduler]));
const requestOf = (text: string) => definitionOf(`${JOBS}\n${text}`).schedulers![0]!;
const nodes = (trigger: string, scheduler: string, more = "") =>
  `{ trigger_type: ${trigger}, action_type: schedule_nodes, scheduler: ${scheduler}, scheduler_type: slurm${more} }`;

describe("schedulers of a file", () => {
  it("ask for what their keys say", () => {
    const text = `
slurm_schedulers:
  - { name: s, account: a, partition: p, nodes: 2, walltime: "1-02:03:04", mem: 64G, gres: "gpu:a100:2", qos: q,
      ntasks_per_node: 8, tmp: 10G, extra: "--exclusive --constraint='sky lake' --mail-user me" }
slurm_defaults: { qos: other, account: other, tmp: 5G, mail-type: END, requeue: true, hold: false }
compute_node_expiration_buffer_seconds: 90
compute_node_wait_for_new_jobs_seconds: 0.5
actions: [${nodes("on_workflow_start", "s", ", num_allocations: 3, max_parallel_jobs: 5")}, ${nodes("on_jobs_ready", "s", ", jobs: [end], max_parallel_jobs: 4")}]
`;
    expect(requestOf(text)).toEqual({
      name: "s",
      account: "a",
      partition: "p",
      qos: "q",
      gres: "gpu:a100",
      gpus: 2,
      cpus: 8,
      memoryBytes: 64 * GIB,
      runtimeMs: (26 * 3600 + 3 * 60 + 4) * 1_000,
      options: [
        "--tmp=10G",
        "--exclusive",
        "--constraint=sky lake",
        "--mail-user=me",
        "--mail-type=END",
        "--requeue",
      ],
      maxNodes: 8,
      maxParallelJobs: 4,
      drainMs: 90_000,
      idleExitMs: 500,
    });
  });

  it("ask for GPUs also where those stand among the other options, as in Torc's example of two sub-graphs", () => {
    const asked = (keys: string) => requestOf(`slurm_schedulers: [{ name: s, ${keys} }]`);
    const among = asked('extra: "--gres=gpu:1 --exclusive"');
    expect(among).toMatchObject({ gres: "gpu", gpus: 1, options: ["--exclusive"] });
    const both = asked('gres: "gpu:a100:2", extra: "--gres=gpu:1"');
    expect(both).toMatchObject({ gres: "gpu:a100", gpus: 2, options: [] });
    const other = asked('extra: "--gres=craynetwork:2"');
    expect(other).toMatchObject({ gres: null, gpus: null, options: ["--gres=craynetwork:2"] });
  });

  it("leave open what they do not say, and take account and qos from the defaults", () => {
    expect(requestOf("slurm_schedulers: [{ name: s }]\nslurm_defaults: { account: a, qos: q }")).toEqual({
      ...{ name: "s", account: "a", partition: null, qos: "q", gres: null, gpus: null, cpus: null },
      ...{ memoryBytes: null, runtimeMs: null, options: [], maxNodes: null, maxParallelJobs: null },
      ...{ drainMs: null, idleExitMs: null },
    });
  });

  it.each([
    ["30", 30 * 60],
    ['"30:15"', 30 * 60 + 15],
    ['"04:00:00"', 4 * 3600],
    ["2-12", 60 * 3600],
    ['"2-12:30"', 60 * 3600 + 1800],
    ["4h", 4 * 3600],
    ["PT1H30M", 5400],
  ])("take the time limit %s as Slurm does", (walltime, seconds) => {
    expect(requestOf(`slurm_schedulers: [{ name: s, walltime: ${walltime} }]`).runtimeMs).toBe(
      seconds * 1_000,
    );
  });

  it.each([
    ["4000", 4000 * 1024 ** 2],
    ["64G", 64 * GIB],
    ["0", Number.MAX_SAFE_INTEGER],
  ])("take the memory %s as Slurm does", (mem, bytes) => {
    expect(requestOf(`slurm_schedulers: [{ name: s, mem: ${mem} }]`).memoryBytes).toBe(bytes);
  });

  it("let nodes stay as long as they may if they are to ignore the end of the workflow", () => {
    const text = "slurm_schedulers: [{ name: s }]\ncompute_node_ignore_workflow_completion: true";
    expect(requestOf(text).idleExitMs).toBe(MAX_DURATION_MS);
  });

  it.each(['"--exclusive; rm"', '"-C gpu"', '"exclusive"', '"--a \'open"', '"--a=b c d"'])(
    "refuse %s as options",
    (extra) => {
      expect(summaryOf(`slurm_schedulers: [{ name: s, extra: ${extra} }]${JOBS}`)).toEqual([
        "INVALID_VALUE 1:38 slurm_schedulers[0].extra",
      ]);
    },
  );
});

describe("the scheduler of a job", () => {
  const two = `slurm_schedulers: [{ name: s }, { name: t }, { name: u }]${JOBS}`;

  it("is its own, else that of the nodes for when it is ready, else that of nodes for any job", () => {
    const text = `${two}  - { name: own, command: x, scheduler: t, depends_on: [setup] }
actions: [${nodes("on_jobs_ready", "u", ', job_name_regexes: ["^work", own]')}, ${nodes("on_workflow_start", "t")}]`;
    expect(schedulersOf(text)).toEqual({ setup: "t", work_1: "u", work_2: "u", end: "t", own: "t" });
  });

  it("is that of nodes for when what it needs is complete", () => {
    const text = `${two}actions: [${nodes("on_jobs_complete", "u", ', jobs: ["work_{i}"]')}]`;
    expect(schedulersOf(text)).toEqual({ setup: "s", work_1: "s", work_2: "s", end: "u" });
  });

  it("is the first of the file where nothing else says so, also where there are only defaults", () => {
    expect(schedulersOf(two)).toEqual({ setup: "s", work_1: "s", work_2: "s", end: "s" });
    expect(schedulersOf(`slurm_defaults: { constraint: cpu }${JOBS}`)).toMatchObject({
      end: "slurm_defaults",
    });
    expect(schedulersOf(JOBS)).toMatchObject({ end: undefined });
  });

  it("is none where it says itself on which workers it runs", () => {
    const text = `slurm_schedulers: [{ name: s }]\njobs: [{ name: a, command: x, runs_on: gpu }, { name: b, command: x }]`;
    expect(schedulersOf(text)).toEqual({ a: undefined, b: "s" });
    expect(summaryOf(text.replace("runs_on", "scheduler: s, runs_on"))).toEqual([
      "INVALID_VALUE 2:8 jobs[0]",
    ]);
  });

  it("of commands is that of a job before them, or of the first job", () => {
    const text = `${two}actions:
  - { trigger_type: on_workflow_start, action_type: run_commands, commands: [x] }
  - { trigger_type: on_jobs_complete, action_type: run_commands, commands: [x], jobs: [end] }
  - ${nodes("on_jobs_ready", "u", ", jobs: [end]")}
  - { trigger_type: on_workflow_complete, action_type: run_commands, commands: [x] }
`;
    expect(schedulersOf(text)).toMatchObject({
      action_1_on_workflow_start: "s",
      action_2_on_jobs_complete: "u",
      action_4_on_workflow_complete: "u",
    });
  });

  it("must be in the list", () => {
    const text = `slurm_schedulers: [{ name: small }]\njobs: [{ name: a, command: x, scheduler: smal }]\nactions: [${nodes("on_workflow_start", "big")}]`;
    expect(summaryOf(text)).toEqual([
      "INVALID_VALUE 2:42 jobs[0].scheduler",
      "INVALID_VALUE 3:86 actions[0].scheduler",
    ]);
  });
});

describe("limits of compute nodes", () => {
  it("are a warning in a file that asks for no nodes", () => {
    expect(
      warningsOf(
        `compute_node_wait_for_new_jobs_seconds: 5\ncompute_node_ignore_workflow_completion: false${JOBS}`,
      ),
    ).toEqual(["NO_EFFECT compute_node_wait_for_new_jobs_seconds"]);
  });
});
