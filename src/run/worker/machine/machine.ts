import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, hostname, totalmem } from "node:os";
import { type AttemptPlace, NOWHERE } from "../../../core/model/worker-names.js";
import { type ControlGroup, type ReadText, readControlGroup } from "./control-group.js";

type Environment = { readonly [name: string]: string | undefined };

/** What a process's environment says about the allocation of its scheduler. Null if it does not say. */
interface AllocationEnvironment extends AttemptPlace {
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
  /** The number of machines in the allocation. */
  readonly nodes: number | null;
  /** Names of GPUs, in the form of CUDA_VISIBLE_DEVICES. */
  readonly gpus: readonly string[] | null;
}

const BYTES_PER_MEGABYTE = 1024 ** 2;

/** Reads the allocation of Slurm or Grid Engine. All fields are null for a process that neither has started. */
export function readAllocation(env: Environment): AllocationEnvironment {
  if (isSet(env.SLURM_JOB_ID)) return ofSlurm(env, env.SLURM_JOB_ID);
  // Grid Engine sets SGE_TASK_ID for every job. JOB_ID alone may come from anything.
  if (isSet(env.JOB_ID) && isSet(env.SGE_TASK_ID)) return ofGridEngine(env, env.JOB_ID, env.SGE_TASK_ID);
  return { ...NOWHERE, cpus: null, memoryBytes: null, nodes: null, gpus: visibleGpus(env) };
}

function ofSlurm(env: Environment, id: string): AllocationEnvironment {
  const cpus = countOf(env.SLURM_CPUS_ON_NODE);
  return {
    allocation: `slurm/${id}`,
    restart: countOf(env.SLURM_RESTART_COUNT) ?? 0,
    node: env.SLURMD_NODENAME || null,
    cpus: cpus === 0 ? null : cpus,
    memoryBytes: slurmMemory(env, cpus),
    nodes: countOf(env.SLURM_JOB_NUM_NODES) || null,
    // A control group that hides other GPUs numbers its own from 0, so CUDA's variable takes precedence.
    gpus: visibleGpus(env) ?? listOf(env.SLURM_JOB_GPUS),
  };
}

/** The memory, which Slurm gives in megabytes, per node or per processor. 0 means all of the node's. */
function slurmMemory(env: Environment, cpus: number | null): number | null {
  const perNode = countOf(env.SLURM_MEM_PER_NODE);
  const perCpu = countOf(env.SLURM_MEM_PER_CPU);
  const megabytes = perNode ?? (perCpu === null || cpus === null ? null : perCpu * cpus);
  return megabytes === null || megabytes === 0 ? null : megabytes * BYTES_PER_MEGABYTE;
}

function ofGridEngine(env: Environment, id: string, task: string): AllocationEnvironment {
  return {
    allocation: `gridengine/${id}${task === "undefined" ? "" : `.${task}`}`,
    // It only says whether the job was restarted, not how often.
    restart: countOf(env.RESTARTED) ?? 0,
    node: env.HOSTNAME || null,
    cpus: countOf(env.NSLOTS) || null,
    memoryBytes: null,
    nodes: countOf(env.NHOSTS) || null,
    gpus: visibleGpus(env),
  };
}

/** The GPUs that somebody has chosen. Null if nobody has, empty if none is left. */
function visibleGpus({ CUDA_VISIBLE_DEVICES: visible }: Environment): readonly string[] | null {
  if (visible === undefined) return null;
  const named = visible.split(",").map((name) => name.trim());
  // CUDA itself uses them up to the first invalid one.
  const end = named.findIndex((name) => !/^(?:\d+|(?:GPU|MIG)-[A-Za-z0-9/-]+)$/.test(name));
  return end < 0 ? named : named.slice(0, end);
}

function listOf(text: string | undefined): readonly string[] | null {
  if (!isSet(text)) return null;
  return text.split(",").flatMap((part) => {
    const range = /^(\d{1,4})-(\d{1,4})$/.exec(part.trim());
    if (range === null) return /^\d+$/.test(part.trim()) ? [part.trim()] : [];
    const [first, last] = [Number(range[1]), Number(range[2])];
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => String(first + at));
  });
}

function countOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

/** What a worker can offer: its allocation, within the limits of its control group, or else the whole machine. */
export interface Machine extends AttemptPlace {
  /** A whole number, at least one. */
  readonly cpus: number;
  readonly memoryBytes: number;
  /** The number of machines in the allocation. This one is the first. */
  readonly nodes: number;
  /** Names of GPUs, in the form of CUDA_VISIBLE_DEVICES. */
  readonly gpus: readonly string[];
}

/** The whole machine, even if this process may use only a part. */
interface WholeMachine {
  readonly node: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: readonly string[];
}

const MAX_DEVICES = 64;

export function readMachine(env: { readonly [name: string]: string | undefined } = process.env): Machine {
  return machineOf(env, readControlGroup(readText), wholeMachine());
}

/** The minimum of what the allocation, the control group and the machine report. Names come from the allocation. */
export function machineOf(
  env: { readonly [name: string]: string | undefined },
  group: ControlGroup,
  whole: WholeMachine,
): Machine {
  const given = readAllocation(env);
  const cpus = Math.min(
    given.cpus ?? Infinity,
    group.cpus ?? Infinity,
    given.cpus === null ? whole.cpus : Infinity,
  );
  return {
    node: given.node ?? whole.node,
    allocation: given.allocation,
    restart: given.restart,
    cpus: Math.max(1, Math.floor(cpus)),
    memoryBytes: Math.min(given.memoryBytes ?? Infinity, group.memoryBytes ?? Infinity, whole.memoryBytes),
    nodes: given.nodes ?? 1,
    gpus: given.gpus ?? whole.gpus,
  };
}

function wholeMachine(): WholeMachine {
  const devices = Array.from({ length: MAX_DEVICES }, (_, at) => String(at));
  return {
    node: hostname(),
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    gpus: devices.filter((device) => existsSync(`/dev/nvidia${device}`)),
  };
}

const readText: ReadText = (path) => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
};
