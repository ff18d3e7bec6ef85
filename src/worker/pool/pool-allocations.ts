import type { AllocationEnd } from "../../cluster/allocation-end.js";
import { verdictOf } from "../../cluster/scale/verdict.js";
import type { Limit, Resource } from "../../core/model/resources.js";
import type { AttemptPlace } from "../../core/model/worker-names.js";
import type { Standings } from "../../core/workers/standings.js";
import type { TimerPort } from "../attempt-timers.js";
import type { PoolAttempt } from "./pool-attempt.js";
import type { PoolBook } from "./pool-book.js";
import type { PoolWorker } from "./pool-worker.js";

/** Incarnations of allocations that are remembered after their worker has gone. */
const MAX_REMEMBERED = 10_000;

export interface EndedAllocation {
  /** `CLUSTER/ID`. */
  readonly allocation: string;
  readonly restart: number;
  readonly end: Pick<AllocationEnd, "code" | "message">;
  /** The one job that it was for; null: whatever fitted. */
  readonly jobId: number | null;
}

/** What workers show of the allocations that they run in. */
export class PoolAllocations {
  /** The most that a job can be given where these tags lead. Whoever looks after clusters knows it. */
  mostOf: (runsOn: readonly string[], resource: Resource) => Limit | null = () => null;
  /** Other workers can be had where these tags lead. */
  canBring: (runsOn: readonly string[]) => boolean = () => false;
  private readonly came = new Set<string>();

  constructor(
    private readonly book: PoolBook,
    private readonly clock: TimerPort,
    private readonly standings: Standings,
  ) {}

  /** A worker has registered with this token; null where there are none. */
  note({ allocation, restart }: AttemptPlace, caller: number | null): void {
    if (allocation === null) return;
    this.came.add(cameAs(nameOf(allocation, restart), caller));
    if (this.came.size > MAX_REMEMBERED) this.came.delete(this.came.values().next().value!);
  }

  /** A worker of this incarnation has come, be it gone again. One with another token only says that it is of it. */
  hadPilot(allocation: string, restart: number, token: number | null): boolean {
    const name = nameOf(allocation, restart);
    return this.came.has(cameAs(name, token)) || this.came.has(cameAs(name, null));
  }

  isHere(allocation: string, token: number | null): boolean {
    return this.workersOf(allocation, token).length > 0;
  }

  /** It takes nothing more, or nothing for now. */
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

  /** The batch system has ended it: so have its attempts, and its worker is gone. May be told twice. */
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
    // What has arrived is decided by the engine; a script that broke off begins anew.
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
