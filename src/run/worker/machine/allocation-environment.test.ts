import { describe, expect, it } from "vitest";
import { readAllocation } from "./machine.js";

const SLURM = {
  SLURM_JOB_ID: "123",
  SLURM_RESTART_COUNT: "2",
  SLURMD_NODENAME: "node2",
  SLURM_CPUS_ON_NODE: "4",
  SLURM_MEM_PER_NODE: "800",
  SLURM_JOB_NUM_NODES: "3",
};
const GRID_ENGINE = {
  SGE_ROOT: "/opt/sge",
  JOB_ID: "41",
  SGE_TASK_ID: "undefined",
  RESTARTED: "0",
  NSLOTS: "6",
  NHOSTS: "1",
  HOSTNAME: "exec1.example",
  QUEUE: "main.q",
};

describe("the allocation of a process, from its environment", () => {
  it("is that of Slurm, with how often it was started again", () => {
    expect(readAllocation(SLURM)).toEqual({
      allocation: "slurm/123",
      restart: 2,
      node: "node2",
      cpus: 4,
      memoryBytes: 800 * 1024 ** 2,
      nodes: 3,
      gpus: null,
    });
  });

  it("is the first incarnation where Slurm does not count", () => {
    expect(readAllocation({ ...SLURM, SLURM_RESTART_COUNT: undefined })).toMatchObject({ restart: 0 });
  });

  it("has Slurm's memory for each processor, and none where it is all of the node's", () => {
    const { SLURM_MEM_PER_NODE: _, ...rest } = SLURM;
    expect(readAllocation({ ...rest, SLURM_MEM_PER_CPU: "100" }).memoryBytes).toBe(400 * 1024 ** 2);
    expect(readAllocation(rest).memoryBytes).toBeNull();
    expect(readAllocation({ ...SLURM, SLURM_MEM_PER_NODE: "0" }).memoryBytes).toBeNull();
  });

  it("is that of Grid Engine, an element of an array with its number", () => {
    expect(readAllocation(GRID_ENGINE)).toEqual({
      allocation: "gridengine/41",
      restart: 0,
      node: "exec1.example",
      cpus: 6,
      memoryBytes: null,
      nodes: 1,
      gpus: null,
    });
    expect(readAllocation({ ...GRID_ENGINE, SGE_TASK_ID: "7", RESTARTED: "1" })).toMatchObject({
      allocation: "gridengine/41.7",
      restart: 1,
    });
  });

  it("is none in an ordinary shell, whatever else has a JOB_ID", () => {
    const nothing = {
      allocation: null,
      restart: null,
      node: null,
      cpus: null,
      memoryBytes: null,
      nodes: null,
      gpus: null,
    };
    expect(readAllocation({})).toEqual(nothing);
    expect(readAllocation({ JOB_ID: "5", HOSTNAME: "h", NSLOTS: "3" })).toEqual(nothing);
    expect(readAllocation({ SLURM_JOB_ID: "" })).toEqual(nothing);
  });

  it.each([
    ["0,1", ["0", "1"]],
    ["GPU-8932f937-d72c-4106, GPU-1", ["GPU-8932f937-d72c-4106", "GPU-1"]],
    ["", []],
    ["-1", []],
    ["NoDevFiles", []],
    ["0,-1,2", ["0"]],
  ])("has the graphics processors that CUDA is shown: %j", (visible, expected) => {
    expect(readAllocation({ ...SLURM, CUDA_VISIBLE_DEVICES: visible }).gpus).toEqual(expected);
    expect(readAllocation({ CUDA_VISIBLE_DEVICES: visible }).gpus).toEqual(expected);
  });

  it("has those of the job where CUDA is shown nothing else", () => {
    expect(readAllocation({ ...SLURM, SLURM_JOB_GPUS: "1,4-6" }).gpus).toEqual(["1", "4", "5", "6"]);
    expect(readAllocation({ ...SLURM, SLURM_JOB_GPUS: "1,4", CUDA_VISIBLE_DEVICES: "0,1" }).gpus).toEqual([
      "0",
      "1",
    ]);
  });

  it("takes no number that is none", () => {
    const garbled = {
      ...SLURM,
      SLURM_CPUS_ON_NODE: "4(x2)",
      SLURM_MEM_PER_NODE: "-1",
      SLURM_RESTART_COUNT: "x",
    };
    expect(readAllocation(garbled)).toMatchObject({ cpus: null, memoryBytes: null, restart: 0 });
  });
});
