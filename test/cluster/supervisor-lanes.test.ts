import { describe, expect, it } from "vitest";
import type { Lane } from "../../src/fleet/allocations/requests/lane.js";
import { bindSchedulers } from "../../src/fleet/allocations/requests/plan-lanes.js";
import type { Demand } from "../../src/fleet/allocations/scale/demand.js";
import { demand, SupervisorBench, settingsOf, settled } from "../support/supervisor-bench.js";
import { definitionOf } from "../support/workflow-text.js";

const SETTINGS = settingsOf("    schedulers: { options: [constraint] }\n    limits: { cooldown: 0s }\n");
const REFUSED = {
  refused: "BAD_OPTION",
  message: "Invalid feature specification",
  retryable: false,
} as const;

function laneOf(mem: string): Lane {
  const text = `slurm_schedulers: [{ name: s, mem: ${mem} }]\njobs: [{ name: a, command: x }]`;
  const [request] = bindSchedulers(definitionOf(text), [SETTINGS]).schedulers!;
  return { tag: request!.tag!, request: request! };
}

const inLane = (jobId: number, lane: Lane): Demand => ({ ...demand(jobId), lane });

describe("a cluster with jobs of files that have schedulers", () => {
  it("is not suspended by what one file asks for, and tries that again after ten minutes", {
    tags: ["L7"],
  }, async () => {
    const bench = new SupervisorBench(SETTINGS);
    bench.cluster.answers.push(REFUSED);
    bench.demands = [inLane(1, laneOf("1G")), demand(2)];
    const supervisor = bench.supervisor();
    await supervisor.start();
    expect(await bench.rows()).toEqual(["- ended REFUSED", "1 pending"]);
    await bench.polls(3);
    expect((await bench.store.readCluster("hpc")).cluster.suspended).toBeNull();
    expect(supervisor.lastPlan?.impossible).toEqual([
      { jobId: 1, reason: "slurm refuses an allocation for scheduler s: Invalid feature specification" },
    ]);
    expect(bench.cluster.submitted).toHaveLength(1);
    bench.clock.advance(10 * 60_000);
    await settled();
    await bench.polls(1);
    expect(bench.cluster.submitted).toHaveLength(2);
    await supervisor.stop();
  });

  it("gives the worker of a lane the tag of the lane alone, and a place in the queue only while its jobs wait", {
    tags: ["L7"],
  }, async () => {
    const bench = new SupervisorBench(SETTINGS);
    const [one, two] = [laneOf("1G"), laneOf("2G")];
    bench.demands = [inLane(1, one), inLane(2, two)];
    const supervisor = bench.supervisor();
    await supervisor.start();
    const plans = bench.cluster.submitted.map((key) => bench.cluster.plans.get(key)!);
    expect(plans.map(({ spec }) => spec.tags)).toEqual([[one.tag], [two.tag]]);
    expect(plans[0]!.script).toContain(`--tags='${one.tag}'`);
    bench.demands = [inLane(2, two)];
    await bench.polls(14);
    expect(bench.cluster.canceled).toEqual(["1 drain"]);
    await supervisor.stop();
  });

  it("does not take workers that leave for useless because jobs of another lane wait", async () => {
    const bench = new SupervisorBench(SETTINGS);
    const [one, two] = [laneOf("1G"), laneOf("2G")];
    bench.demands = [inLane(1, one), inLane(2, one), inLane(3, one)].map((each) => ({
      ...each,
      needs: { ...each.needs, cpus: 4, runtimeMs: 3_000_000 },
    }));
    const supervisor = bench.supervisor();
    await supervisor.start();
    expect(bench.cluster.submitted).toHaveLength(3);
    for (const id of ["1", "2", "3"]) bench.begin(id, `node${id}`);
    bench.demands = [];
    await bench.polls(1);
    bench.demands = [inLane(4, two)];
    for (const id of ["1", "2", "3"]) bench.cluster.end(id, "COMPLETED");
    await bench.polls(2);
    expect((await bench.store.readCluster("hpc")).cluster.suspended).toBeNull();
    await supervisor.stop();
  });
});
