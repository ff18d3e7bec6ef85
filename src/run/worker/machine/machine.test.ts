import { describe, expect, it } from "vitest";
import { machineOf } from "./machine.js";

const WHOLE = { node: "host", cpus: 64, memoryBytes: 1_000_000_000_000, gpus: ["0", "1"] };
const FREE = { cpus: null, memoryBytes: null };
const SLURM = {
  SLURM_JOB_ID: "9",
  SLURMD_NODENAME: "node1",
  SLURM_CPUS_ON_NODE: "4",
  SLURM_MEM_PER_NODE: "800",
};

describe("what a worker has to give", () => {
  it("is the whole machine where nobody has said otherwise", () => {
    expect(machineOf({}, FREE, WHOLE)).toEqual({
      ...{ node: "host", allocation: null, restart: null },
      ...{ cpus: 64, memoryBytes: 1_000_000_000_000, nodes: 1, gpus: ["0", "1"] },
    });
  });

  it("is what its allocation has, not what the machine has", () => {
    expect(machineOf(SLURM, FREE, WHOLE)).toMatchObject({
      ...{ node: "node1", allocation: "slurm/9", restart: 0 },
      ...{ cpus: 4, memoryBytes: 800 * 1024 ** 2 },
    });
  });

  it("is at most what its control group allows, in whole processors and at least one", () => {
    expect(machineOf(SLURM, { ...FREE, cpus: 2.5, memoryBytes: 5_000 }, WHOLE)).toMatchObject({
      ...{ cpus: 2, memoryBytes: 5_000 },
    });
    expect(machineOf({}, { ...FREE, cpus: 0.5 }, WHOLE).cpus).toBe(1);
  });

  it("has as many processors as the allocation claims, also where a test cluster claims more than there are", () => {
    expect(machineOf(SLURM, FREE, { ...WHOLE, cpus: 2 }).cpus).toBe(4);
  });

  it("has no graphics processors where the scheduler has hidden them", () => {
    expect(machineOf({ ...SLURM, CUDA_VISIBLE_DEVICES: "NoDevFiles" }, FREE, WHOLE).gpus).toEqual([]);
    expect(machineOf({ CUDA_VISIBLE_DEVICES: "1" }, FREE, WHOLE).gpus).toEqual(["1"]);
  });
});
