import type { Target } from "../provider.js";
import { type Demand, targetOf } from "../scale/demand.js";
import {
  type LiveAllocation,
  type PlanInput,
  type PlannedAllocation,
  planAllocations,
  type ScalePlan,
} from "../scale/plan-allocations.js";
import { type Lane, settingsFor } from "./lane.js";
import { whyForbidden } from "./rules.js";

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
