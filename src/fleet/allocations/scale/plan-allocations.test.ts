import { describe, expect, it } from "vitest";
import { MAIN } from "../../../../test/support/fake-cluster.js";
import { demand, jobs, settingsOf } from "../../../../test/support/supervisor-bench.js";
import { jobLimits } from "./demand.js";
import {
  type LiveAllocation,
  type PlanInput,
  type PlannedAllocation,
  planAllocations,
} from "./plan-allocations.js";

const NOW = 1_000_000_000;
const MIB = 1024 ** 2;
const HOUR_MS = 3_600_000;
const NEW = { suspended: null, failures: 0, retryAt: null, submittedAt: null };

function plan(input: Partial<PlanInput>) {
  return planAllocations({
    ...{ settings: settingsOf(), target: MAIN, demands: [], live: [], history: NEW, now: NOW },
    ...input,
  });
}

function live(changes: Partial<LiveAllocation> = {}): LiveAllocation {
  const shape = { nodes: 1, cpus: 4, memoryBytes: 4000 * MIB, gpus: 0, runtimeMs: HOUR_MS };
  return { shape, jobId: null, usableMs: HOUR_MS, hasPilot: true, endsUnexplained: false, ...changes };
}

const limited = (limits: string) => settingsOf(`    limits: { ${limits} }\n`);
const shapesOf = (input: Partial<PlanInput>) => plan(input).submit.map(({ shape }) => shape);

describe("the limits of one job", () => {
  it("are the most that an allocation can still be made for", () => {
    const target = { ...MAIN, max: { runtimeMs: HOUR_MS } };
    const settings = settingsOf("    allocation: { memory: 3g, drain: 5m }\n");
    const { memory, runtime } = jobLimits(settings, target);
    const impossible = (memoryBytes: number, runtimeMs: number) =>
      plan({ settings, target, demands: [demand(1, { memoryBytes, runtimeMs })] }).impossible.length;
    expect([memory, runtime]).toEqual([3 * 1024 * MIB, HOUR_MS - 6 * 60_000]);
    expect(impossible(memory!, runtime!)).toBe(0);
    expect([impossible(memory! + 1, runtime!), impossible(memory!, runtime! + 1)]).toEqual([1, 1]);
  });
});

describe("what the scheduler has refused as too big", () => {
  const refused = (shape: PlannedAllocation["shape"]) => ({ shape, message: "over the limit" });

  it("for several jobs together is planned for each of them", () => {
    const demands = jobs(3, { cpus: 2 });
    const [together, ...others] = plan({ demands }).submit;
    expect([together!.jobs, others]).toEqual([[1, 2, 3], []]);
    const again = plan({ demands, tooBig: [refused(together!.shape)] });
    expect(again.submit.map(({ jobs: each, shape }) => [each, shape.cpus])).toEqual([
      [[1], 2],
      [[2], 2],
      [[3], 2],
    ]);
    expect(again.impossible).toEqual([]);
  });

  it("for one job is impossible for it and for all that need no less, and for no other", () => {
    const [alone] = plan({ demands: [demand(1, { cpus: 2, memoryBytes: 1000 * MIB })] }).submit;
    const demands = [
      demand(1, { cpus: 2, memoryBytes: 1000 * MIB }),
      demand(2, { cpus: 3, memoryBytes: 1000 * MIB }),
      demand(3, { cpus: 1, memoryBytes: 2000 * MIB }),
    ];
    const { submit, impossible } = plan({ demands, tooBig: [refused(alone!.shape)] });
    expect(submit.map(({ jobs: each }) => each)).toEqual([[3]]);
    const reason = "slurm refuses an allocation for it: over the limit";
    expect(impossible).toEqual([
      { jobId: 2, reason },
      { jobId: 1, reason },
    ]);
  });
});

describe("packing", () => {
  it("asks for what one job needs, with room for the worker and time to start and drain", () => {
    const job = demand(7, { cpus: 2, memoryBytes: 500 * MIB, runtimeMs: 2 * HOUR_MS });
    expect(plan({ demands: [job] })).toEqual({
      submit: [
        {
          shape: { nodes: 1, cpus: 2, memoryBytes: 756 * MIB, gpus: 0, runtimeMs: 2 * HOUR_MS + 120_000 },
          jobId: null,
          jobs: [7],
          reason: "1 job is waiting",
        },
      ],
      waits: null,
      nextAt: null,
      impossible: [],
    });
  });

  it("puts many short jobs into few allocations, each as big as a node at most", () => {
    const shapes = shapesOf({ demands: jobs(40, { memoryBytes: 100 * MIB, runtimeMs: 60_000 }) });
    // Four of them run at a time, and the worker needs memory, too.
    expect(shapes).toEqual([{ nodes: 1, cpus: 4, memoryBytes: 656 * MIB, gpus: 0, runtimeMs: HOUR_MS }]);
  });

  it("opens another allocation where the time of one is used up", () => {
    // 59 usable minutes on 4 processors fit 20 jobs of 10 minutes, and a few in what is left.
    const planned = plan({ demands: jobs(60, { memoryBytes: MIB, runtimeMs: 600_000 }) });
    expect(planned.submit.map((each) => each.jobs.length)).toEqual([23, 23, 14]);
  });

  it("puts the big ones first and fills the gaps with small ones", () => {
    const demands = [demand(1), demand(2), demand(3, { cpus: 3 }), demand(4, { cpus: 3 })].map((each) => ({
      ...each,
      needs: { ...each.needs, memoryBytes: MIB, runtimeMs: 55 * 60_000 },
    }));
    expect(plan({ demands }).submit.map((each) => each.jobs)).toEqual([
      [3, 1],
      [4, 2],
    ]);
  });

  it("gives a job that is wider than a node an allocation of its own, once", () => {
    const wide = demand(9, { nodes: 3, cpus: 4, memoryBytes: 1000 * MIB });
    const planned = plan({ demands: [wide, demand(1)] });
    expect(planned.submit.map(({ jobId, shape }) => [jobId, shape.nodes, shape.cpus])).toEqual([
      [9, 3, 4],
      [null, 1, 1],
    ]);
    expect(plan({ demands: [wide], live: [live({ jobId: 9 })] }).submit).toEqual([]);
  });

  it("says which jobs can never run, and why, and plans for the others", () => {
    const demands = [demand(1), demand(2, { cpus: 5 }), demand(3, { memoryBytes: 5000 * MIB })];
    const planned = plan({ demands });
    expect(planned.impossible).toEqual([
      { jobId: 2, reason: "it needs 5 cpus, and a node has 4" },
      {
        jobId: 3,
        reason: "it needs 5000 MiB of memory, and a node has 4000 MiB",
      },
    ]);
    expect(planned.submit.map((each) => each.jobs)).toEqual([[1]]);
    const short = { ...MAIN, max: { runtimeMs: 60_000, nodes: 2 } };
    expect(plan({ target: short, demands: [demand(4, { runtimeMs: 60_000 })] }).impossible).toHaveLength(1);
    expect(plan({ target: short, demands: [demand(4, { nodes: 3 })] }).impossible).toHaveLength(1);
  });

  it("asks for no more than one job needs where nothing is known of the nodes", () => {
    expect(shapesOf({ target: null, demands: jobs(8, { cpus: 2, runtimeMs: 50 * 60_000 }) })).toHaveLength(8);
  });

  it("stays within what the settings allow for one allocation", () => {
    const settings = settingsOf("    allocation: { cpus: 2, memory: 1g, runtime: 30m }\n");
    expect(shapesOf({ settings, demands: jobs(3, { memoryBytes: MIB, runtimeMs: 60_000 }) })).toEqual([
      { nodes: 1, cpus: 2, memoryBytes: 258 * MIB, gpus: 0, runtimeMs: 1_800_000 },
    ]);
  });
});

describe("allocations that are there", () => {
  it("take the jobs that fit into their time; only the rest is planned for", () => {
    const demands = jobs(6, { memoryBytes: MIB, runtimeMs: 600_000 });
    expect(plan({ demands, live: [live({ usableMs: 600_000 })] }).submit.map((each) => each.jobs)).toEqual([
      [5, 6],
    ]);
    expect(plan({ demands, live: [live({ usableMs: 1_200_000 })] }).submit).toEqual([]);
  });

  it("that belong to another server take nothing, but count", () => {
    const settings = limited("max_allocations: 2");
    const others = [live({ usableMs: 0 }), live({ usableMs: 0 })];
    expect(plan({ settings, demands: jobs(1), live: others })).toMatchObject({
      submit: [],
      waits: { kind: "max_allocations", message: "the limit of 2 allocations is reached" },
    });
  });
});

describe("limits", () => {
  const long = { memoryBytes: MIB, runtimeMs: 55 * 60_000 };

  it("keep the number of allocations and of processors", () => {
    const demands = jobs(40, long);
    expect(plan({ settings: limited("max_allocations: 3"), demands })).toMatchObject({
      submit: [{}, {}, {}],
      waits: { kind: "max_allocations" },
    });
    const byCpus = plan({ settings: limited("max_cpus: 10"), demands, live: [live({ usableMs: 0 })] });
    expect(byCpus.submit.map(({ shape }) => shape.cpus)).toEqual([4, 2]);
    expect(byCpus.waits).toEqual({ kind: "max_cpus", message: "the limit of 10 cpus is reached" });
  });

  it("wait for the threshold only while an allocation is alive", () => {
    const settings = limited("threshold: 3");
    const full = [live({ usableMs: 0 })];
    expect(plan({ settings, demands: jobs(2), live: full }).waits?.kind).toBe("threshold");
    expect(plan({ settings, demands: jobs(3), live: full }).submit).toHaveLength(1);
    expect(plan({ settings, demands: jobs(1) }).submit).toHaveLength(1);
    expect(plan({ settings, demands: jobs(2), live: full, byHand: true }).submit).toHaveLength(1);
  });

  it("wait for the cooldown, and say until when", () => {
    const settings = limited("cooldown: 1m");
    const history = { ...NEW, submittedAt: NOW - 59_999 };
    expect(plan({ settings, demands: jobs(1), history })).toMatchObject({
      submit: [],
      waits: { kind: "cooldown" },
      nextAt: NOW + 1,
    });
    expect(plan({ settings, demands: jobs(1), history, byHand: true }).submit).toHaveLength(1);
    expect(
      plan({ settings, demands: jobs(1), history: { ...NEW, submittedAt: NOW - 60_000 } }).waits,
    ).toBeNull();
  });

  it("submit nothing by themselves where auto_schedule_on_ready_jobs is off", () => {
    const settings = settingsOf("    auto_schedule_on_ready_jobs: false\n");
    expect(plan({ settings, demands: jobs(1) }).waits?.kind).toBe("not_automatic");
    expect(plan({ settings, demands: jobs(1), byHand: true }).submit).toHaveLength(1);
  });
});

describe("after failures", () => {
  it("nothing is submitted while the cluster is suspended, not even by hand", () => {
    const history = { ...NEW, suspended: { message: "three without a worker" } };
    expect(plan({ demands: jobs(1), history, byHand: true })).toMatchObject({
      submit: [],
      waits: { kind: "suspended", message: "three without a worker" },
    });
  });

  it("it waits longer, then tries one alone", () => {
    const demands = jobs(40, { memoryBytes: MIB, runtimeMs: 55 * 60_000 });
    const history = { ...NEW, failures: 1, retryAt: NOW + 1 };
    expect(plan({ demands, history })).toMatchObject({
      submit: [],
      waits: { kind: "backoff" },
      nextAt: NOW + 1,
    });
    const due = { ...history, retryAt: NOW };
    expect(plan({ demands, history: due })).toMatchObject({ submit: [{}], waits: { kind: "probing" } });
    const waiting = [live({ hasPilot: false, usableMs: 0 })];
    expect(plan({ demands, history: due, live: waiting })).toMatchObject({
      submit: [],
      waits: { kind: "probing" },
    });
  });
});
