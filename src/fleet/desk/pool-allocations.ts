import type { FailureFacts } from "../../core/model/failure.js";
import type { Limit, Resource } from "../../core/model/resources.js";
import type { AttemptPlace } from "../../core/model/worker-names.js";
import type { Standings } from "../../core/quarantine/quarantine.js";
import type { TimerPort } from "../../run/worker/attempt-timers.js";
import type { AllocationEnd } from "../allocations/allocation-end.js";
import type { PoolAttempt } from "./pool-attempt.js";
import type { PoolBook } from "./pool-book.js";
import type { PoolWorker } from "./pool-worker.js";

/** What is known of an attempt when the allocation under it ends. */
export interface EndedAttempt {
  /** The allocation was made for this job alone, so its limits were the job's own. */
  readonly hadAllocation: boolean;
  /** No other job ran in the allocation. */
  readonly wasAlone: boolean;
  readonly elapsedMs: number;
  /** The `runtime` that the job asked for; null if it did not specify one. */
  readonly runtimeMs: number | null;
}

/** Exit codes under which rules know these ends. */
const OOM_EXIT_CODE = 137;
const WALLTIME_EXIT_CODE = 152;

/**
 * Judges an attempt whose allocation has ended. It failed if it exceeded its own limits, or if others canceled an
 * allocation of its own. All other ends are not its fault.
 */
export function verdictOf(end: Pick<AllocationEnd, "code" | "message">, attempt: EndedAttempt): FailureFacts {
  const { code, message } = end;
  const { hadAllocation, wasAlone, elapsedMs, runtimeMs } = attempt;
  // A job that was alone in the allocation used all of this memory itself, whatever it had requested.
  if (code === "OOM" && (hadAllocation || wasAlone)) return { code: "OOM", exitCode: OOM_EXIT_CODE, message };
  if (code === "WALLTIME" && (hadAllocation || (runtimeMs !== null && elapsedMs >= runtimeMs)))
    return { code: "WALLTIME", exitCode: WALLTIME_EXIT_CODE, message };
  if (code === "CANCELED" && hadAllocation) return { code: "ALLOCATION_CANCELED", message };
  return { lost: true, message };
}

/** How many incarnations of allocations are remembered after their worker has left. */
const MAX_REMEMBERED = 10_000;

export interface EndedAllocation {
  /** The allocation's name, `CLUSTER/ID`. */
  readonly allocation: string;
  readonly restart: number;
  readonly end: Pick<AllocationEnd, "code" | "message">;
  /** The only job that it was for; null if it took any that fitted. */
  readonly jobId: number | null;
}

/** Information about allocations from the workers in them. */
export class PoolAllocations {
  /** The most that a job with these tags can get. Set by the part that manages clusters. */
  mostOf: (runsOn: readonly string[], resource: Resource) => Limit | null = () => null;
  /** Whether more workers can be requested for these tags. */
  canBring: (runsOn: readonly string[]) => boolean = () => false;
  private readonly came = new Set<string>();

  constructor(
    private readonly book: PoolBook,
    private readonly clock: TimerPort,
    private readonly standings: Standings,
  ) {}

  /** Notes that a worker has registered with this token. Null if no tokens are in use. */
  note({ allocation, restart }: AttemptPlace, caller: number | null): void {
    if (allocation === null) return;
    this.came.add(cameAs(nameOf(allocation, restart), caller));
    if (this.came.size > MAX_REMEMBERED) this.came.delete(this.came.values().next().value!);
  }

  /**
   * Whether a worker of this incarnation has come, even if it has left again. One with another token is not trusted to
   * be of it.
   */
  hadPilot(allocation: string, restart: number, token: number | null): boolean {
    const name = nameOf(allocation, restart);
    return this.came.has(cameAs(name, token)) || this.came.has(cameAs(name, null));
  }

  isHere(allocation: string, token: number | null): boolean {
    return this.workersOf(allocation, token).length > 0;
  }

  /** Whether it takes no more jobs, now or for good. */
  isDraining(allocation: string, token: number | null): boolean {
    return this.workersOf(allocation, token).some(
      ({ draining, answersAs }) => draining || this.standings.standingOf(answersAs) === "out",
    );
  }

  private workersOf(allocation: string, token: number | null): PoolWorker[] {
    return [...this.book.workers.values()].filter(
      ({ at, caller }) => at.allocation === allocation && (caller === null || caller === token),
    );
  }

  /** Ends the attempts and the worker of an allocation that the batch system has ended. May be called twice. */
  ended({ allocation, restart, end, jobId }: EndedAllocation): void {
    const name = nameOf(allocation, restart);
    const isOfIt = (at: AttemptPlace | undefined): boolean =>
      at !== undefined && at.allocation !== null && nameOf(at.allocation, at.restart) === name;
    const attempts = [...this.book.attempts.values()].filter(({ at }) => isOfIt(at));
    const wasAlone = attempts.length === 1;
    for (const attempt of attempts) this.judge(attempt, end, jobId === attempt.held.jobId, wasAlone);
    for (const worker of [...this.book.workers.values()])
      if (isOfIt(worker.at)) this.book.remove(worker, end.message);
  }

  private judge(
    attempt: PoolAttempt,
    end: EndedAllocation["end"],
    hadAllocation: boolean,
    wasAlone: boolean,
  ): void {
    // The engine decides what has arrived. An interrupted script begins again.
    if (attempt.reporting !== null) return;
    const elapsedMs = this.clock.elapsed() - attempt.since;
    const { runtimeMs } = attempt.needs;
    const facts = attempt.held.recovery
      ? { lost: true, message: end.message }
      : verdictOf(end, { hadAllocation, wasAlone, elapsedMs, runtimeMs });
    this.book.end(attempt, { kind: "failed", facts });
  }
}

function cameAs(name: string, caller: number | null): string {
  return `${name} by ${caller}`;
}

function nameOf(allocation: string, restart: number | null): string {
  return `${allocation}#${restart ?? 0}`;
}
