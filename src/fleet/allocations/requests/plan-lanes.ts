import { DarumaError } from "../../../core/errors/errors.js";
import { actionTraits } from "../../../core/model/action-traits.js";
import type { SchedulerRequest } from "../../../core/model/batch/scheduler-request.js";
import type { Definition, StepDefinition } from "../../../core/model/definition.js";
import {
  type Allowed,
  type ClusterSettings,
  clusterFor,
  type SchedulerRules,
} from "../../../file/settings/settings.js";
import { isRefusal, type Target } from "../provider.js";
import { type Demand, targetOf } from "../scale/demand.js";
import {
  type LiveAllocation,
  type PlanInput,
  type PlannedAllocation,
  planAllocations,
  type ScalePlan,
} from "../scale/plan-allocations.js";
import { readSlurmOptions } from "../slurm/plan.js";
import { clusterOfLane, type Lane, laneTag, settingsFor } from "./lane.js";

export interface LanesInput extends Omit<PlanInput, "target"> {
  readonly targets: readonly Target[];
  /** Tags of lanes for which the batch system recently refused an allocation, with its message. */
  readonly refused: ReadonlyMap<string, string>;
}

/** Plans allocations for one lane after the other, within limits that all lanes share. */
export function planLanes(input: LanesInput): ScalePlan {
  const plans: ScalePlan[] = [];
  const taken: LiveAllocation[] = [];
  for (const demands of byLane(input.demands)) {
    const plan = planLane(input, demands, taken);
    taken.push(...plan.submit.map(onItsWay));
    plans.push(plan);
  }
  const due = plans.flatMap(({ nextAt }) => nextAt ?? []);
  return {
    submit: plans.flatMap(({ submit }) => submit),
    waits: plans.find(({ waits }) => waits !== null)?.waits ?? null,
    nextAt: due.length === 0 ? null : Math.min(...due),
    impossible: plans.flatMap(({ impossible }) => impossible),
  };
}

function byLane(demands: readonly Demand[]): readonly (readonly Demand[])[] {
  const lanes = new Map<string, Demand[]>();
  for (const demand of demands) {
    const tag = demand.lane?.tag ?? "";
    const same = lanes.get(tag);
    if (same === undefined) lanes.set(tag, [demand]);
    else same.push(demand);
  }
  return [...lanes.values()];
}

function planLane(
  { targets, refused, ...input }: LanesInput,
  demands: readonly Demand[],
  taken: readonly LiveAllocation[],
): ScalePlan {
  const lane = demands[0]?.lane;
  const reason = lane === undefined ? null : whyNever(lane, input.settings, refused);
  if (reason !== null) {
    const impossible = demands.map(({ jobId }) => ({ jobId, reason }));
    return { submit: [], waits: null, nextAt: null, impossible };
  }
  const settings = lane === undefined ? input.settings : laneSettings(input.settings, lane, demands);
  const longerMs = settings.allocation.drainMs - input.settings.allocation.drainMs;
  const live = input.live.map((each) =>
    (each.lane ?? null) === (lane?.tag ?? null)
      ? { ...each, usableMs: Math.max(0, each.usableMs - longerMs) }
      : { ...each, usableMs: 0 },
  );
  const target = targetOf(settings, targets);
  const tooBig = (input.tooBig ?? []).filter((each) => (each.lane ?? null) === (lane?.tag ?? null));
  const plan = planAllocations({ ...input, settings, target, demands, live: [...live, ...taken], tooBig });
  return lane === undefined ? plan : withinNodes(plan, lane, settings, input.live);
}

/**
 * Why no allocation of the lane is submitted now; null if one may be. The settings may have changed since the run
 * began.
 */
function whyNever(
  { tag, request }: Lane,
  settings: PlanInput["settings"],
  refused: LanesInput["refused"],
): string | null {
  const said = refused.get(tag);
  if (said !== undefined)
    return `${settings.type} refuses an allocation for scheduler ${request.name}: ${said}`;
  return whyForbidden(request, settings)?.message ?? null;
}

/**
 * The settings for a lane. If the number of parallel jobs is limited, processors that these jobs cannot use are not
 * requested.
 */
function laneSettings(
  base: PlanInput["settings"],
  lane: Lane,
  demands: readonly Demand[],
): PlanInput["settings"] {
  const settings = settingsFor(base, lane);
  const { slots, cpus, least } = settings.allocation;
  if (slots === undefined) return settings;
  const most = Math.max(slots * Math.max(...demands.map(({ needs }) => needs.cpus)), least?.cpus ?? 0);
  return { ...settings, allocation: { ...settings.allocation, cpus: Math.min(cpus ?? most, most) } };
}

/** Applies the file's own limit on nodes. One allocation is always allowed, or its job would never run. */
function withinNodes(
  plan: ScalePlan,
  { tag, request }: Lane,
  settings: PlanInput["settings"],
  live: readonly LiveAllocation[],
): ScalePlan {
  const most = request.maxNodes ?? Number.POSITIVE_INFINITY;
  let nodes = live.reduce((sum, { lane, shape }) => sum + (lane === tag ? shape.nodes : 0), 0);
  const submit: PlannedAllocation[] = [];
  for (const each of plan.submit) {
    if (nodes > 0 && nodes + each.shape.nodes > most) {
      const message = `scheduler ${request.name} has ${nodes} of at most ${most} nodes`;
      return { ...plan, submit, waits: { kind: "max_allocations", message } };
    }
    nodes += each.shape.nodes;
    submit.push({ ...each, settings });
  }
  return { ...plan, submit };
}

/** A planned allocation as the next lane sees it: it counts towards the limits and takes none of its jobs. */
function onItsWay({ shape, jobId }: PlannedAllocation): LiveAllocation {
  return { shape, jobId, usableMs: 0, hasPilot: false, endsUnexplained: false };
}

/** A request of a file that is not allowed. */
interface Forbidden {
  readonly message: string;
  /** The setting of the cluster that could allow it; null if nothing can. */
  readonly rule: string | null;
}

/**
 * What a file requests without permission. A file must not choose accounts, targets or options that the server's
 * operator has not allowed. Null if everything is allowed.
 */
function whyForbidden(request: SchedulerRequest, cluster: ClusterSettings): Forbidden | null {
  const { schedulers: rules } = cluster;
  if (rules === null) return forbidden(request, cluster, "nodes", "schedulers");
  const names = [
    ["account", "accounts", request.account, cluster.account],
    ["partition", "partitions", request.partition, cluster.target],
    ["qos", "qos", request.qos, cluster.qos],
    ["gres", "gres", request.gres === "gpu" ? null : request.gres, cluster.gres],
  ] as const satisfies readonly (readonly [string, keyof SchedulerRules, string | null, string | null])[];
  for (const [what, rule, asked, own] of names)
    if (asked !== null && asked !== own && !isAllowed(asked, rules[rule]))
      return forbidden(request, cluster, `${what} ${asked}`, `schedulers.${rule}`);
  for (const option of request.options) {
    const name = option.slice(2).split("=", 1)[0]!;
    if (!isAllowed(name, rules.options))
      return forbidden(request, cluster, `the option --${name}`, "schedulers.options");
  }
  const read = readSlurmOptions(request.options);
  return isRefusal(read) ? { message: `scheduler ${request.name}: ${read.message}`, rule: null } : null;
}

function isAllowed(name: string, allowed: Allowed): boolean {
  return allowed === "any" || allowed.includes(name);
}

function forbidden(
  { name }: SchedulerRequest,
  cluster: ClusterSettings,
  what: string,
  rule: string,
): Forbidden {
  const message = `scheduler ${name} asks for ${what}, which the settings of the cluster ${cluster.name} do not allow`;
  return { message, rule };
}

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
