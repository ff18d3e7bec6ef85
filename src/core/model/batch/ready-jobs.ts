import type { JobsSortMethod } from "../definition.js";
import { resourcesOf } from "../resources.js";
import type { Job } from "../run.js";

/** Jobs that can start, in the order in which they are to. */
export interface ReadyJobs extends Iterable<Job> {
  readonly size: number;
  has(job: Job): boolean;
  add(job: Job): unknown;
  delete(job: Job): boolean;
}

export function readyJobs(method: JobsSortMethod | undefined): ReadyJobs {
  return method === undefined ? new Set() : new SortedReadyJobs(method);
}

/** Most first. */
type Rank = readonly [number, number, number];

/**
 * Those that ask for most come first, among equals those that became ready first. Very many jobs ask for the same: what is
 * sorted are the different requirements, so a job costs no more than their number.
 */
class SortedReadyJobs implements ReadyJobs {
  private readonly ranks: { readonly rank: Rank; readonly jobs: Set<Job> }[] = [];
  /** With what they asked for then: it may have been raised since. */
  private readonly places = new Map<Job, Set<Job>>();

  constructor(private readonly method: JobsSortMethod) {}

  get size(): number {
    return this.places.size;
  }

  has(job: Job): boolean {
    return this.places.has(job);
  }

  add(job: Job): void {
    const rank = rankOf(job, this.method);
    let at = this.ranks.findIndex((other) => compare(other.rank, rank) >= 0);
    if (at === -1) at = this.ranks.length;
    const known = this.ranks[at];
    const isKnown = known !== undefined && compare(known.rank, rank) === 0;
    const jobs = isKnown ? known.jobs : new Set<Job>();
    if (!isKnown) this.ranks.splice(at, 0, { rank, jobs });
    jobs.add(job);
    this.places.set(job, jobs);
  }

  delete(job: Job): boolean {
    this.places.get(job)?.delete(job);
    return this.places.delete(job);
  }

  /** Whoever goes through them may start some on the way, and so take them out. */
  *[Symbol.iterator](): Iterator<Job> {
    for (const { jobs } of [...this.ranks]) yield* jobs;
  }
}

/** A job that does not say how long it takes counts as short, one that does not say how large it is as small. */
function rankOf(job: Job, method: JobsSortMethod): Rank {
  const resources = resourcesOf(job, job.step.definition);
  const [gpus, runtime, memory] = [
    resources?.gpus ?? 0,
    resources?.runtimeMs ?? 0,
    resources?.memoryBytes ?? 0,
  ];
  return method === "gpus_runtime_memory" ? [gpus, runtime, memory] : [gpus, memory, runtime];
}

/** Negative: the first one starts before the second. */
function compare(first: Rank, second: Rank): number {
  return second[0] - first[0] || second[1] - first[1] || second[2] - first[2];
}
