import { actionTraits } from "../../../core/model/action-traits.js";
import {
  DEFAULT_RUNTIME_MS,
  type Definition,
  type ResourceRequirements,
} from "../../../core/model/definition.js";
import { type Resource, resourcesOf } from "../../../core/model/resources.js";
import type { Job, Run } from "../../../core/model/run.js";
import { mayStart } from "../../../core/model/workspace-turn.js";
import { counted, sizeText } from "../../../core/text/amount-text.js";
import {
  type AllocationSettings,
  type ClusterSettings,
  clusterFor,
} from "../../../file/settings/settings.js";
import type { Shape, Target } from "../provider.js";
import { clusterOfLane, type Lane, laneOf, settingsFor } from "../requests/lane.js";

/** A ready job for which no connected worker has room. */
export interface Demand {
  readonly jobId: number;
  readonly needs: JobNeeds;
  /** What the job's file requests. By default the cluster's settings apply. */
  readonly lane?: Lane;
}

export interface JobNeeds {
  readonly nodes: number;
  readonly cpus: number;
  /** Null if the job does not specify it. */
  readonly memoryBytes: number | null;
  readonly gpus: number;
  readonly runtimeMs: number | null;
}

/** Memory that the worker itself uses in an allocation. */
const PILOT_MEMORY_BYTES = 256 * 1024 ** 2;
/** A generous estimate of the time from the start of an allocation until its worker takes jobs. */
const START_MS = 60_000;

const NOTHING = { cpus: 0, memoryBytes: 0, gpus: 0 };

/** A demand prepared for packing, with its needs per node and its estimated duration. */
export interface Piece {
  readonly jobId: number;
  readonly nodes: number;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  readonly forMs: number;
  /** The least duration of an allocation for it. It must not start with less time left. */
  readonly leastMs: number;
}

export type NodeLimits = { readonly [K in "cpus" | "memoryBytes" | "gpus"]: number };

export function pieceOf({ jobId, needs }: Demand, { allocation }: ClusterSettings): Piece {
  const forMs = needs.runtimeMs ?? allocation.jobRuntimeMs;
  return {
    jobId,
    nodes: needs.nodes,
    cpus: needs.cpus,
    memoryBytes: needs.memoryBytes ?? allocation.jobMemoryBytes,
    gpus: needs.gpus,
    forMs,
    leastMs: (needs.runtimeMs ?? DEFAULT_RUNTIME_MS) + aroundJobMs(allocation),
  };
}

/** How much longer than its job an allocation must last. */
function aroundJobMs({ drainMs }: AllocationSettings): number {
  return drainMs + START_MS;
}

/** The target that a cluster submits to; null if the batch system does not report it. */
export function targetOf(settings: ClusterSettings, targets: readonly Target[]): Target | null {
  const isIt = ({ name, isDefault }: Target): boolean =>
    settings.target === null ? isDefault : name === settings.target;
  return targets.find(isIt) ?? null;
}

/** The most that a single job may request. Null for a resource without a known limit. */
export function jobLimits(
  { allocation }: ClusterSettings,
  target: Target | null,
): Readonly<Record<Resource, number | null>> {
  const { max = {}, perNode = {} } = target ?? {};
  const memory = Math.min(
    allocation.memoryBytes ?? Number.POSITIVE_INFINITY,
    perNode.memoryBytes ?? Number.POSITIVE_INFINITY,
  );
  return {
    memory: Number.isFinite(memory) ? memory : null,
    runtime: max.runtimeMs === undefined ? null : Math.max(0, max.runtimeMs - aroundJobMs(allocation)),
  };
}

/** The most that one allocation may request per node: the settings' limit, within the largest node. */
export function nodeLimits(
  { allocation }: ClusterSettings,
  target: Target | null,
  pieces: readonly Piece[],
): NodeLimits {
  const { least = NOTHING } = allocation;
  const limit = (set: number | null, has: number | undefined, most: number): number =>
    Math.min(set ?? has ?? most, has ?? Number.POSITIVE_INFINITY);
  const most = (of: (piece: Piece) => number): number => Math.max(0, ...pieces.map(of));
  return {
    // If a site reports nothing about its nodes, no more is requested than the largest job needs.
    cpus: limit(
      allocation.cpus,
      target?.perNode.cpus,
      Math.max(
        most(({ cpus }) => cpus),
        least.cpus,
      ),
    ),
    memoryBytes: limit(
      allocation.memoryBytes,
      target?.perNode.memoryBytes,
      Math.max(most(({ memoryBytes }) => memoryBytes) + PILOT_MEMORY_BYTES, least.memoryBytes),
    ),
    gpus: limit(
      allocation.gpus,
      target?.perNode.gpus,
      Math.max(
        most(({ gpus }) => gpus),
        least.gpus,
      ),
    ),
  };
}

/** Why no allocation can ever take the job; null if one can. */
export function whyImpossible(piece: Piece, limits: NodeLimits, target: Target | null): string | null {
  const { max = {} } = target ?? {};
  if (max.nodes !== undefined && piece.nodes > max.nodes)
    return `it needs ${piece.nodes} nodes, and an allocation may have ${max.nodes}`;
  if (piece.cpus > limits.cpus)
    return `it needs ${counted(piece.cpus, "cpu")}, and a node has ${limits.cpus}`;
  if (piece.gpus > limits.gpus)
    return `it needs ${counted(piece.gpus, "gpu")}, and a node has ${limits.gpus}`;
  if (piece.memoryBytes > limits.memoryBytes)
    return `it needs ${sizeText(piece.memoryBytes)} of memory, and a node has ${sizeText(limits.memoryBytes)}`;
  if (max.runtimeMs !== undefined && piece.leastMs > max.runtimeMs)
    return `with start and drain it needs ${seconds(piece.leastMs)}, and an allocation may last ${seconds(max.runtimeMs)}`;
  return null;
}

/** The allocation to request so that as many of these jobs as the limits allow can run in parallel. */
export function shapeFor(
  pieces: readonly Piece[],
  limits: NodeLimits,
  { allocation }: ClusterSettings,
  target: Target | null,
): Shape {
  const sum = (of: (piece: Piece) => number, over = pieces): number =>
    over.reduce((total, piece) => total + of(piece), 0);
  const { least: atLeast = NOTHING } = allocation;
  const cpus = Math.min(
    limits.cpus,
    Math.max(
      atLeast.cpus,
      sum((piece) => piece.cpus),
    ),
  );
  const atOnce = hungriestAtOnce(pieces, cpus);
  const least = Math.max(...pieces.map(({ leastMs }) => leastMs));
  return {
    nodes: pieces[0]?.nodes ?? 1,
    cpus,
    memoryBytes: Math.min(
      limits.memoryBytes,
      Math.max(atLeast.memoryBytes, sum(({ memoryBytes }) => memoryBytes, atOnce) + PILOT_MEMORY_BYTES),
    ),
    gpus: Math.min(
      limits.gpus,
      Math.max(
        atLeast.gpus,
        sum(({ gpus }) => gpus, atOnce),
      ),
    ),
    runtimeMs: Math.min(
      Math.max(allocation.runtimeMs, least),
      target?.max.runtimeMs ?? Number.POSITIVE_INFINITY,
    ),
  };
}

/** The jobs with the most GPUs and memory among those that have processors at the same time. The others run later. */
function hungriestAtOnce(pieces: readonly Piece[], cpus: number): Piece[] {
  let left = cpus;
  return [...pieces]
    .sort((first, second) => second.gpus - first.gpus || second.memoryBytes - first.memoryBytes)
    .filter((piece) => {
      const runs = piece.cpus <= left;
      if (runs) left -= piece.cpus;
      return runs;
    });
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1_000)} s`;
}

/** What breakers say about jobs: which must not start, and which test whether a service works again. */
export interface KeptBack {
  readonly keepsBack: (run: Run, job: Job) => boolean;
  readonly probes: ReadonlySet<Job>;
}

/** Jobs that could start now if a worker had room, by the cluster that they ask for. */
export function readyDemands(
  runs: Iterable<Run>,
  clusters: readonly ClusterSettings[],
  { keepsBack, probes }: KeptBack,
): ReadonlyMap<string, Demand[]> {
  const found = new Map<string, Demand[]>(clusters.map(({ name }) => [name, []]));
  for (const run of runs) {
    if (run.paused !== null) continue;
    for (const job of [...run.ready, ...run.parked]) {
      const cluster = clusterOf(job, clusters, run.definition);
      const couldStart = probes.has(job) || (mayStart(run, job) && !keepsBack(run, job));
      if (cluster !== null && couldStart) found.get(cluster.name)?.push(demandOf(job, run.definition));
    }
  }
  return found;
}

/** The cluster for jobs of this step; null if they run on none. */
export function clusterOf(
  { step: { definition } }: Pick<Job, "step">,
  clusters: readonly ClusterSettings[],
  workflow: Pick<Definition, "schedulers">,
): ClusterSettings | null {
  if (actionTraits(definition.action.type).doneBy !== "worker" || definition.usesWorkspace) return null;
  const lane = laneOf(definition, workflow);
  return lane === null ? clusterFor(definition.runsOn ?? [], clusters) : clusterOfLane(lane.tag, clusters);
}

/** The settings of that cluster, adjusted to what the step's file requests. */
export function placeOf(
  job: Pick<Job, "step">,
  clusters: readonly ClusterSettings[],
  workflow: Pick<Definition, "schedulers">,
): ClusterSettings | null {
  const cluster = clusterOf(job, clusters, workflow);
  const lane = laneOf(job.step.definition, workflow);
  return cluster === null || lane === null ? cluster : settingsFor(cluster, lane);
}

export function demandOf(
  job: Pick<Job, "id" | "step" | "raised">,
  workflow: Pick<Definition, "schedulers">,
): Demand {
  const lane = laneOf(job.step.definition, workflow);
  return { jobId: job.id, needs: jobNeeds(job), ...(lane === null ? {} : { lane }) };
}

/** Older definitions do not have nodes and GPUs. */
type AskedResources = ResourceRequirements & { readonly nodes?: number; readonly gpus?: number };

function jobNeeds(job: Pick<Job, "step" | "raised">): JobNeeds {
  const resources: AskedResources | null = resourcesOf(job, job.step.definition);
  return {
    nodes: resources?.nodes ?? 1,
    cpus: resources?.cpus ?? 1,
    memoryBytes: resources?.memoryBytes ?? null,
    gpus: resources?.gpus ?? 0,
    runtimeMs: resources?.runtimeMs ?? null,
  };
}
