import { actionTraits } from "../../../core/model/action-traits.js";
import type { Definition, ResourceRequirements } from "../../../core/model/definition.js";
import { resourcesOf } from "../../../core/model/resources.js";
import type { Job, Run } from "../../../core/model/run.js";
import { mayStart } from "../../../core/model/workspace-turn.js";
import { type ClusterSettings, clusterFor } from "../../../file/settings/settings.js";
import { clusterOfLane, laneOf, settingsFor } from "../requests/lane.js";
import type { Demand, JobNeeds } from "./demand.js";

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
