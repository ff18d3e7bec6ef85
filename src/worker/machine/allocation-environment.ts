import { type AttemptPlace, NOWHERE } from "../../core/model/worker-names.js";

type Environment = { readonly [name: string]: string | undefined };

/** What the environment of a process says of the allocation that a scheduler gave it. Null: it does not say. */
export interface AllocationEnvironment extends AttemptPlace {
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
  /** Machines of the allocation. */
  readonly nodes: number | null;
  /** Names of graphics processors, as CUDA_VISIBLE_DEVICES takes them. */
  readonly gpus: readonly string[] | null;
}

const BYTES_PER_MEGABYTE = 1024 ** 2;

/** Slurm's and Grid Engine's. A process that neither has started is nowhere. */
export function readAllocation(env: Environment): AllocationEnvironment {
  if (isSet(env.SLURM_JOB_ID)) return ofSlurm(env, env.SLURM_JOB_ID);
  // Grid Engine sets SGE_TASK_ID for every job; JOB_ID alone may be anybody's.
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
    // Within a control group that hides the others they are counted anew: what CUDA is told holds.
    gpus: visibleGpus(env) ?? listOf(env.SLURM_JOB_GPUS),
  };
}

/** In megabytes, for the node or for each processor. 0: all that the node has. */
function slurmMemory(env: Environment, cpus: number | null): number | null {
  const perNode = countOf(env.SLURM_MEM_PER_NODE);
  const perCpu = countOf(env.SLURM_MEM_PER_CPU);
  const megabytes = perNode ?? (perCpu === null || cpus === null ? null : perCpu * cpus);
  return megabytes === null || megabytes === 0 ? null : megabytes * BYTES_PER_MEGABYTE;
}

function ofGridEngine(env: Environment, id: string, task: string): AllocationEnvironment {
  return {
    allocation: `gridengine/${id}${task === "undefined" ? "" : `.${task}`}`,
    // It tells only whether, not how often.
    restart: countOf(env.RESTARTED) ?? 0,
    node: env.HOSTNAME || null,
    cpus: countOf(env.NSLOTS) || null,
    memoryBytes: null,
    nodes: countOf(env.NHOSTS) || null,
    gpus: visibleGpus(env),
  };
}

/** Null: nobody has chosen any. Empty: somebody has, and left none. */
function visibleGpus({ CUDA_VISIBLE_DEVICES: visible }: Environment): readonly string[] | null {
  if (visible === undefined) return null;
  const named = visible.split(",").map((name) => name.trim());
  // CUDA itself takes them up to the first that is none.
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
