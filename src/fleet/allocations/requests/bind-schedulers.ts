import { DarumaError } from "../../../core/errors/errors.js";
import { actionTraits } from "../../../core/model/action-traits.js";
import type { SchedulerRequest } from "../../../core/model/batch/scheduler-request.js";
import type { Definition, StepDefinition } from "../../../core/model/definition.js";
import { type ClusterSettings, clusterFor } from "../../../file/settings/settings.js";
import { clusterOfLane, laneTag } from "./lane.js";
import { whyForbidden } from "./rules.js";

/**
 * Assigns the steps of a file with schedulers to the first cluster that accepts them, if its settings allow what the
 * file requests. Without such a cluster the steps run like all others.
 */
export function bindSchedulers(definition: Definition, clusters: readonly ClusterSettings[]): Definition {
  const { schedulers, steps } = definition;
  if (schedulers === undefined) return definition;
  const cluster = clusters.find(
    (each) => each.schedulers !== null && clusterFor(each.tags, clusters) === each,
  );
  if (cluster === undefined) return definition;
  const used = new Set(steps.flatMap((step) => (mayRunThere(step) ? [step.scheduler] : [])));
  const bound = schedulers.map((request) => {
    const before = request.tag === undefined ? null : clusterOfLane(request.tag, clusters);
    // A fork keeps the definition of its source run, whose requests may no longer be allowed.
    if (before !== null) refuseForbidden(request, before);
    if (!used.has(request.name)) return request;
    refuseForbidden(request, cluster);
    return { ...request, tag: laneTag(cluster.name, request) };
  });
  const byName = new Map(bound.map((request) => [request.name, request]));
  return {
    ...definition,
    schedulers: bound,
    steps: steps.map((step) => {
      const request = mayRunThere(step) ? byName.get(step.scheduler) : undefined;
      return request?.tag === undefined ? step : boundStep(step, request, request.tag);
    }),
  };
}

/**
 * Whether a step may run on a cluster. Steps with a workspace need the server, steps that no worker executes need no
 * node, and steps with a `runs_on` keep it.
 */
function mayRunThere(step: StepDefinition): step is StepDefinition & { readonly scheduler: string } {
  const isFree = step.runsOn.length === 0 && !step.usesWorkspace;
  return step.scheduler !== undefined && isFree && actionTraits(step.action.type).doneBy === "worker";
}

function boundStep(step: StepDefinition, { maxParallelJobs }: SchedulerRequest, tag: string): StepDefinition {
  const { resources } = step;
  const slots =
    resources === null || maxParallelJobs === null ? {} : { resources: { ...resources, slots: 1 } };
  return { ...step, runsOn: [tag], ...slots };
}

function refuseForbidden(request: SchedulerRequest, cluster: ClusterSettings): void {
  const found = whyForbidden(request, cluster);
  if (found === null) return;
  const { message, rule } = found;
  if (rule === null) throw new DarumaError("SCHEDULER_NOT_ALLOWED", message);
  const hint = `Add it to \`${rule}\` of the cluster in daruma.config.yaml, or remove it from the workflow file.`;
  throw new DarumaError("SCHEDULER_NOT_ALLOWED", message, { hint });
}
