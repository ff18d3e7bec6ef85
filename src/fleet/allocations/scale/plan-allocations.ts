import type { ClusterSettings } from "../../../file/settings/settings.js";
import type { Shape, Target } from "../provider.js";
import {
  type Demand,
  type NodeLimits,
  nodeLimits,
  type Piece,
  pieceOf,
  shapeFor,
  whyImpossible,
} from "./demand.js";

/** Free capacity of one allocation in its remaining time: processors, memory and GPUs, each times milliseconds. */
class Bin {
  readonly pieces: Piece[] = [];
  private cpuMs: number;
  private memoryMs: number;
  private gpuMs: number;

  constructor(
    private readonly size: NodeLimits,
    private readonly forMs: number,
  ) {
    this.cpuMs = size.cpus * forMs;
    this.memoryMs = size.memoryBytes * forMs;
    this.gpuMs = size.gpus * forMs;
  }

  /** Adds a job. Returns false if it does not fit in size, in time, or beside the others. */
  take(piece: Piece): boolean {
    const { cpus, memoryBytes, gpus, forMs } = piece;
    const { size } = this;
    if (cpus > size.cpus || memoryBytes > size.memoryBytes || gpus > size.gpus || forMs > this.forMs)
      return false;
    const [cpuMs, memoryMs, gpuMs] = [cpus * forMs, memoryBytes * forMs, gpus * forMs];
    if (cpuMs > this.cpuMs || memoryMs > this.memoryMs || gpuMs > this.gpuMs) return false;
    this.cpuMs -= cpuMs;
    this.memoryMs -= memoryMs;
    this.gpuMs -= gpuMs;
    this.pieces.push(piece);
    return true;
  }
}

/** Sorts large jobs first, so that small ones fill the gaps. */
function bySize(first: Piece, second: Piece): number {
  return (
    second.gpus - first.gpus ||
    second.cpus - first.cpus ||
    second.memoryBytes - first.memoryBytes ||
    first.jobId - second.jobId
  );
}

function cpusOf({ nodes, cpus }: Pick<Shape, "nodes" | "cpus">): number {
  return nodes * cpus;
}

/** A shape that exceeds the site's limits, with the scheduler's message. */
export interface RefusedShape {
  readonly shape: Shape;
  /** The tag of the lane that it was for. Missing or null if it had none. */
  readonly lane?: string | null;
  readonly message: string;
}

const RESPECTS = [
  "nodes",
  "cpus",
  "memoryBytes",
  "gpus",
  "runtimeMs",
] as const satisfies readonly (keyof Shape)[];

/**
 * Why this shape would be refused: it is at least as large, in every respect, as a refused one. Null if no such shape
 * was tried.
 */
function whyTooBig(shape: Shape, refused: readonly RefusedShape[]): string | null {
  const found = refused.find((each) => RESPECTS.every((respect) => shape[respect] >= each.shape[respect]));
  return found?.message ?? null;
}

/** An allocation that has not ended, made by any server of the store. */
export interface LiveAllocation {
  readonly shape: Shape;
  /** The only job that it is for; null if it takes any that fits. */
  readonly jobId: number | null;
  /** How long this server's jobs can still run in it. 0 if it takes none of them. */
  readonly usableMs: number;
  /** Its worker has connected to the server. */
  readonly hasPilot: boolean;
  /** The tag of the lane that it was made for. Missing or null if it has none. */
  readonly lane?: string | null;
  /** It is ending, and the batch system does not say why yet. The reason may forbid further submissions. */
  readonly endsUnexplained: boolean;
}

/** What all servers of the store know about the cluster. */
export interface ClusterHistory {
  readonly suspended: { readonly message: string } | null;
  readonly failures: number;
  readonly retryAt: number | null;
  readonly submittedAt: number | null;
}

export interface PlanInput {
  readonly settings: ClusterSettings;
  /** Null if nothing is known about the target. */
  readonly target: Target | null;
  readonly demands: readonly Demand[];
  readonly live: readonly LiveAllocation[];
  readonly history: ClusterHistory;
  readonly now: number;
  /** Shapes that the scheduler refused as too big. */
  readonly tooBig?: readonly RefusedShape[];
  /** An operator asked for it, so the threshold, the cooldown and the switch for automatic allocations do not apply. */
  readonly byHand?: boolean;
}

export interface PlannedAllocation {
  readonly shape: Shape;
  readonly jobId: number | null;
  readonly jobs: readonly number[];
  readonly reason: string;
  /** Its settings, if they differ from the cluster's own. */
  readonly settings?: ClusterSettings;
}

export interface ScalePlan {
  readonly submit: readonly PlannedAllocation[];
  /** Why nothing more is submitted. Null if nothing is left to submit. */
  readonly waits: { readonly kind: WaitKind; readonly message: string } | null;
  /** When to plan again if nothing happens before. */
  readonly nextAt: number | null;
  readonly impossible: readonly { readonly jobId: number; readonly reason: string }[];
}

type WaitKind =
  | "suspended"
  | "not_automatic"
  | "backoff"
  | "probing"
  | "ending"
  | "cooldown"
  | "threshold"
  | "max_allocations"
  | "max_cpus";

/** Plans as few allocations for these jobs as possible, within the limits. Pure: the same input gives the same plan. */
export function planAllocations(input: PlanInput): ScalePlan {
  const { settings, target, demands } = input;
  const pieces = demands.map((demand) => pieceOf(demand, settings)).sort(bySize);
  const limits = nodeLimits(settings, target, pieces);
  const impossible: { jobId: number; reason: string }[] = [];
  const possible = pieces.filter((piece) => {
    const reason = whyImpossible(piece, limits, target) ?? whyRefused(piece, input);
    if (reason !== null) impossible.push({ jobId: piece.jobId, reason });
    return reason === null;
  });
  const left = withoutRoom(possible, input.live);
  if (left.length === 0) return { submit: [], waits: null, nextAt: null, impossible };
  const gate = gateOf(input, left.length);
  if (gate !== null) return { submit: [], ...gate, impossible };
  const wanted = [...wideAllocations(left, input), ...packedAllocations(left, input)];
  return { ...withinCaps(wanted, input), impossible };
}

/** Why the scheduler would refuse even an allocation for this job alone. Null if it would not. */
function whyRefused(piece: Piece, { settings, target, tooBig = [] }: PlanInput): string | null {
  if (tooBig.length === 0) return null;
  const alone = shapeFor([piece], nodeLimits(settings, target, [piece]), settings, target);
  const said = whyTooBig(alone, tooBig);
  return said === null ? null : `${settings.type} refuses an allocation for it: ${said}`;
}

/** The jobs that no live or planned allocation will take. */
function withoutRoom(pieces: readonly Piece[], live: readonly LiveAllocation[]): Piece[] {
  const bins = live
    .filter(({ jobId, usableMs }) => jobId === null && usableMs > 0)
    .map(({ shape, usableMs }) => new Bin(shape, usableMs));
  const ownOf = new Set(live.map(({ jobId }) => jobId));
  return pieces.filter((piece) =>
    piece.nodes > 1 ? !ownOf.has(piece.jobId) : !bins.some((bin) => bin.take(piece)),
  );
}

type Gate = Pick<ScalePlan, "waits" | "nextAt">;

function gateOf({ settings, history, live, now, byHand = false }: PlanInput, count: number): Gate | null {
  const { limits, autoSchedule } = settings;
  const stop = (kind: WaitKind, message: string, nextAt: number | null = null): Gate => ({
    waits: { kind, message },
    nextAt,
  });
  if (history.suspended !== null) return stop("suspended", history.suspended.message);
  if (!autoSchedule && !byHand)
    return stop("not_automatic", "auto_schedule_on_ready_jobs is off for this cluster");
  if (history.retryAt !== null && history.retryAt > now)
    return stop(
      "backoff",
      `${history.failures} allocations in a row ended without a worker`,
      history.retryAt,
    );
  if (history.failures > 0 && live.some(({ hasPilot }) => !hasPilot))
    return stop("probing", "the last allocation ended without a worker; one at a time until one has come");
  if (byHand) return null;
  if (live.some(({ endsUnexplained }) => endsUnexplained))
    return stop("ending", "an allocation is ending, and the batch system does not say yet why");
  const cooledAt = (history.submittedAt ?? Number.NEGATIVE_INFINITY) + limits.cooldownMs;
  if (cooledAt > now) return stop("cooldown", "allocations were submitted a moment ago", cooledAt);
  if (live.length > 0 && count < limits.threshold)
    return stop(
      "threshold",
      `${count} of the ${limits.threshold} jobs that must wait before another allocation`,
    );
  return null;
}

function wideAllocations(pieces: readonly Piece[], { settings, target }: PlanInput): PlannedAllocation[] {
  return pieces
    .filter(({ nodes }) => nodes > 1)
    .map((piece) => ({
      shape: shapeFor([piece], nodeLimits(settings, target, [piece]), settings, target),
      jobId: piece.jobId,
      jobs: [piece.jobId],
      reason: `job ${piece.jobId} needs ${piece.nodes} nodes, so it has an allocation of its own`,
    }));
}

function packedAllocations(pieces: readonly Piece[], input: PlanInput): PlannedAllocation[] {
  const { settings, target, tooBig = [] } = input;
  const small = pieces.filter(({ nodes }) => nodes === 1);
  const limits = nodeLimits(settings, target, small);
  const { drainMs } = settings.allocation;
  const bins: { bin: Bin; forMs: number }[] = [];
  for (const piece of small) {
    if (bins.some(({ bin, forMs }) => piece.leastMs - drainMs <= forMs && bin.take(piece))) continue;
    const forMs = shapeFor([piece], limits, settings, target).runtimeMs - drainMs;
    // A job without a `runtime` is assumed to fit into one allocation.
    const bin = new Bin(limits, Math.max(forMs, piece.forMs));
    bin.take(piece);
    bins.push({ bin, forMs });
  }
  const planned = (packed: readonly Piece[]): PlannedAllocation => ({
    shape: shapeFor(packed, limits, settings, target),
    jobId: null,
    jobs: packed.map(({ jobId }) => jobId),
    reason: packed.length === 1 ? "1 job is waiting" : `${packed.length} jobs are waiting`,
  });
  return bins.flatMap(({ bin }) => {
    const together = planned(bin.pieces);
    // The scheduler would refuse it. Each job gets its own allocation, which other jobs use afterwards.
    return whyTooBig(together.shape, tooBig) === null
      ? [together]
      : bin.pieces.map((piece) => planned([piece]));
  });
}

/** Applies the limits, counted over all servers of the store. */
function withinCaps(
  wanted: readonly PlannedAllocation[],
  { settings, live, history }: PlanInput,
): Omit<ScalePlan, "impossible"> {
  const { maxAllocations, maxCpus } = settings.limits;
  const submit: PlannedAllocation[] = [];
  let cpusLeft =
    (maxCpus ?? Number.POSITIVE_INFINITY) - live.reduce((sum, { shape }) => sum + cpusOf(shape), 0);
  const answer = (kind: WaitKind, message: string): Omit<ScalePlan, "impossible"> => ({
    submit,
    waits: { kind, message },
    nextAt: null,
  });
  for (const each of wanted) {
    if (live.length + submit.length >= maxAllocations)
      return answer("max_allocations", `the limit of ${maxAllocations} allocations is reached`);
    // After a failure only one is submitted, to see whether it succeeds.
    if (history.failures > 0 && submit.length === 1)
      return answer(
        "probing",
        "the last allocation ended without a worker; one at a time until one has come",
      );
    const shape = shrunk(each, cpusLeft);
    if (shape === null) return answer("max_cpus", `the limit of ${maxCpus} cpus is reached`);
    submit.push({ ...each, shape });
    cpusLeft -= cpusOf(shape);
  }
  return { submit, waits: null, nextAt: null };
}

/** The allocation with fewer processors, at least one. One for a single job cannot be reduced. */
function shrunk({ shape, jobId, jobs }: PlannedAllocation, cpusLeft: number): Shape | null {
  if (cpusOf(shape) <= cpusLeft) return shape;
  if (jobId !== null || jobs.length === 1 || cpusLeft < 1) return null;
  return { ...shape, cpus: cpusLeft };
}
