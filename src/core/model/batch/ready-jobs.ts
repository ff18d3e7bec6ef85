import type { JobsSortMethod } from "../definition.js";
import { resourcesOf } from "../resources.js";
import type { Job } from "../run.js";

/** The kind of a job: equal for jobs that any worker accepts or refuses alike. */
export type KindOf = (job: Job) => string;

/** Jobs that can start, in the order in which they are to. */
export interface ReadyJobs extends Iterable<Job> {
  readonly size: number;
  has(job: Job): boolean;
  add(job: Job): unknown;
  delete(job: Job): boolean;
  /**
   * The ready jobs in order. If `isOut` says that a job's whole kind has no chance now, the others of that kind are
   * skipped too, however many there are, though some may still be included. The caller may start jobs during the
   * iteration, which removes them.
   */
  inTurn(kindOf: KindOf, isOut: (job: Job) => boolean): Iterable<Job>;
}

export function readyJobs(method: JobsSortMethod | undefined): ReadyJobs {
  return method === undefined ? new QueuedJobs() : new SortedReadyJobs(method);
}

/** More kinds than this share one queue, so that to begin a turn never costs more. */
const MAX_KINDS = 64;

/** Each with its number in the order in which they became ready. */
type Queue = Map<Job, number>;

interface Joined {
  readonly job: Job;
  readonly place: number;
}

/** First come, first served. A queue for each kind, once somebody asks for kinds; until then there is one. */
class QueuedJobs implements ReadyJobs {
  private readonly shared: Queue = new Map();
  private readonly kinds = new Map<string, Queue>();
  private kindOf: KindOf | null = null;
  /** Iterations in progress. Jobs that become ready meanwhile come last in them. */
  private readonly watching = new Set<Joined[]>();
  private added = 0;

  get size(): number {
    let size = this.shared.size;
    for (const queue of this.kinds.values()) size += queue.size;
    return size;
  }

  has(job: Job): boolean {
    return this.holding(job) !== null;
  }

  add(job: Job): void {
    if (this.has(job)) return;
    this.added += 1;
    this.queueFor(job).set(job, this.added);
    for (const joined of this.watching) joined.push({ job, place: this.added });
  }

  delete(job: Job): boolean {
    return this.holding(job)?.delete(job) ?? false;
  }

  [Symbol.iterator](): Iterator<Job> {
    return this.merged(() => false);
  }

  inTurn(kindOf: KindOf, isOut: (job: Job) => boolean): Iterable<Job> {
    if (this.kindOf !== kindOf) this.sortInto(kindOf);
    return { [Symbol.iterator]: () => this.merged(isOut) };
  }

  private *merged(isOut: (job: Job) => boolean): Generator<Job> {
    const joined: Joined[] = [];
    this.watching.add(joined);
    try {
      yield* this.inOrder(isOut, this.added);
      for (const { job, place } of joined) if (this.holding(job)?.get(job) === place) yield job;
    } finally {
      this.watching.delete(joined);
    }
  }

  /** The jobs that were present at this position. */
  private *inOrder(isOut: (job: Job) => boolean, last: number): Generator<Job> {
    const heads = [this.shared, ...this.kinds.values()].flatMap((queue) => {
      const rest = queue.entries();
      const first = rest.next();
      return first.done === true ? [] : [{ queue, rest, first: first.value }];
    });
    while (heads.length > 0) {
      let least = 0;
      for (let at = 1; at < heads.length; at += 1)
        if (heads[at]!.first[1] < heads[least]!.first[1]) least = at;
      const head = heads[least]!;
      const [job] = head.first;
      const out = head.queue !== this.shared && isOut(job);
      if (!out && head.queue.has(job)) yield job;
      const next = out ? null : head.rest.next();
      if (next === null || next.done === true || next.value[1] > last) heads.splice(least, 1);
      else head.first = next.value;
    }
  }

  private sortInto(kindOf: KindOf): void {
    const queues = [this.shared, ...this.kinds.values()].map((queue) => [...queue]);
    const jobs = queues.flat().sort(([, first], [, second]) => first - second);
    this.kindOf = kindOf;
    this.kinds.clear();
    this.shared.clear();
    for (const [job, place] of jobs) this.queueFor(job).set(job, place);
  }

  private queueFor(job: Job): Queue {
    if (this.kindOf === null) return this.shared;
    const kind = this.kindOf(job);
    let queue = this.kinds.get(kind);
    if (queue === undefined) {
      if (this.kinds.size === MAX_KINDS) this.forgetEmptyKinds();
      if (this.kinds.size === MAX_KINDS) return this.shared;
      queue = new Map();
      this.kinds.set(kind, queue);
    }
    return queue;
  }

  private forgetEmptyKinds(): void {
    for (const [kind, queue] of this.kinds) if (queue.size === 0) this.kinds.delete(kind);
  }

  /** It may ask for more by now than when it was queued. */
  private holding(job: Job): Queue | null {
    if (this.shared.has(job)) return this.shared;
    for (const queue of this.kinds.values()) if (queue.has(job)) return queue;
    return null;
  }
}

/** Most first. */
type Rank = readonly [number, number, number];

/**
 * Sorts jobs that ask for most first, and among equal ones those that became ready first. Very many jobs have the same
 * requirements, and only different requirements are sorted, so a job costs no more than their number.
 */
class SortedReadyJobs implements ReadyJobs {
  private readonly ranks: { readonly rank: Rank; readonly jobs: QueuedJobs }[] = [];
  /** The queue of each job, by the requirements that it had when it was added. They may have been raised since. */
  private readonly places = new Map<Job, QueuedJobs>();
  private added = 0;

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
    const jobs = isKnown ? known.jobs : new QueuedJobs();
    if (!isKnown) this.ranks.splice(at, 0, { rank, jobs });
    jobs.add(job);
    this.places.set(job, jobs);
    this.added += 1;
  }

  delete(job: Job): boolean {
    this.places.get(job)?.delete(job);
    return this.places.delete(job);
  }

  [Symbol.iterator](): Iterator<Job> {
    return this.byRank((jobs) => jobs);
  }

  inTurn(kindOf: KindOf, isOut: (job: Job) => boolean): Iterable<Job> {
    return { [Symbol.iterator]: () => this.byRank((jobs) => jobs.inTurn(kindOf, isOut)) };
  }

  /** What becomes ready meanwhile may belong to the front: then all are gone through once more. */
  private *byRank(turnOf: (jobs: QueuedJobs) => Iterable<Job>): Generator<Job> {
    for (let before = -1; before !== this.added; ) {
      before = this.added;
      for (const { jobs } of [...this.ranks]) if (jobs.size > 0) yield* turnOf(jobs);
    }
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
