import {
  type Breaker,
  endProbe,
  letProbe,
  nextProbeAt,
  type Probe,
  stateOf,
  type UsedBreaker,
} from "../../../core/breakers/breaker.js";
import type { Job } from "../../../core/model/run.js";
import type { Lease, Store } from "../../../store/store.js";
import type { Board } from "../board.js";
import type { Clock } from "../clock.js";
import type { RunHost } from "../run-host.js";

/** A job that is let through to test whether what it uses works again. */
interface Grant {
  readonly host: RunHost;
  readonly job: Job;
  readonly used: readonly UsedBreaker[];
  /** The only attempt that is let through. */
  readonly attempt: number;
  readonly at: number;
}

/** The probes whose lease this engine holds. */
export class Probes {
  private readonly grants = new Map<Job, Grant>();
  /** Keys whose lease is being requested. */
  private readonly asking = new Set<string>();

  constructor(
    private readonly rows: Board<Breaker>,
    private readonly store: Pick<Store, "readLease">,
    private readonly engine: string,
    private readonly now: () => number,
  ) {}

  lets(job: Job, key: string): boolean {
    return this.grants.get(job)?.used.some((used) => used.key === key) ?? false;
  }

  has(job: Job): boolean {
    return this.grants.has(job);
  }

  /** Whether a job that uses this breaker may probe it now, as far as this engine knows. */
  isDue({ key, policy }: UsedBreaker): boolean {
    const breaker = this.rows.get(key);
    if (breaker === null || this.asking.has(key)) return false;
    const dueAt = nextProbeAt(breaker, policy);
    const isOpen = stateOf(breaker, policy, this.rows.now()) === "open";
    return isOpen && dueAt !== null && dueAt <= this.rows.now();
  }

  /** Takes the leases of all these for the job's next attempt, or none of them. */
  async take(host: RunHost, job: Job, used: readonly UsedBreaker[]): Promise<boolean> {
    for (const { key } of used) this.asking.add(key);
    try {
      const gone = await this.findGone(used);
      const keys = used.map(({ key }) => key);
      const isTaken = await this.rows.change(keys, (breakers, now) => {
        for (const { key, policy } of used) {
          const breaker = breakers.get(key)!;
          const dueAt = nextProbeAt(breaker, policy);
          const isFree = breaker.probe === null || gone.has(nameOf(breaker.probe));
          if (stateOf(breaker, policy, now) !== "open" || dueAt === null || dueAt > now || !isFree)
            return null;
        }
        const probe: Probe = { engine: this.engine, run: host.run.id, job: job.id, at: now };
        return new Map([...breakers].map(([key, breaker]) => [key, letProbe(breaker, probe)]));
      });
      if (isTaken) this.grants.set(job, { host, job, used, attempt: job.attempt + 1, at: this.now() });
      return isTaken;
    } finally {
      for (const { key } of used) this.asking.delete(key);
    }
  }

  /** Probes whose run has another owner by now, and those of this engine that are over. */
  private async findGone(used: readonly UsedBreaker[]): Promise<Set<string>> {
    const gone = new Set<string>();
    for (const { key } of used) {
      const probe = this.rows.get(key)?.probe;
      if (probe == null) continue;
      const isOwn = probe.engine === this.engine;
      const lease = isOwn ? null : await this.store.readLease(probe.run);
      const isHeld = isOwn ? this.holds(probe) : this.isOwner(lease, probe);
      if (!isHeld) gone.add(nameOf(probe));
    }
    return gone;
  }

  private holds({ job }: Probe): boolean {
    return [...this.grants.keys()].some(({ id }) => id === job);
  }

  private isOwner(lease: Lease | null, { engine }: Probe): boolean {
    return lease !== null && lease.owner.engine === engine && lease.expiresAt > this.now();
  }

  /** Ends grants whose attempt is over or will not happen, and returns them, so that their leases can be released. */
  endOver(isOver: (grant: Grant) => boolean): Grant[] {
    const over = [...this.grants.values()].filter(isOver);
    for (const { job } of over) this.grants.delete(job);
    return over;
  }

  /** Releases leases as a best effort. One that cannot be released ends with its owner. */
  async giveBack({ job, used }: Grant): Promise<void> {
    for (const { key } of used)
      await this.rows.changeOne(key, (breaker) => endProbe(breaker, { engine: this.engine, job: job.id }));
  }
}

function nameOf({ engine, job, at }: Probe): string {
  return `${engine} ${job} ${at}`;
}

/** Whether the attempt has ended, or the job does something else instead of starting it. */
export function isSpentGrant({ job, attempt }: Grant): boolean {
  if (job.attempt > attempt) return true;
  if (job.attempt === attempt) return job.status !== "running";
  return job.status !== "ready" && job.parked === null;
}

interface Line {
  readonly jobs: Set<Job>;
  cancel: () => void;
}

/** Releases jobs that waited for a breaker one by one, so that a recovered service is not overrun. */
export class ReleaseQueue {
  private readonly lines = new Map<string, Line>();
  private readonly queued = new Set<Job>();

  constructor(
    private readonly clock: Clock,
    private readonly release: (job: Job, key: string) => void,
  ) {}

  has(job: Job): boolean {
    return this.queued.has(job);
  }

  add(key: string, jobs: readonly Job[], perSecond: number): void {
    const fresh = jobs.filter((job) => !this.queued.has(job));
    if (fresh.length === 0) return;
    const line = this.lines.get(key);
    for (const job of fresh) this.queued.add(job);
    if (line !== undefined) {
      for (const job of fresh) line.jobs.add(job);
      return;
    }
    this.lines.set(key, { jobs: new Set(fresh), cancel: () => {} });
    this.next(key, 1_000 / perSecond);
  }

  /** Drops jobs that wait again, or whose run left this engine. */
  drop(key: string): void {
    const line = this.lines.get(key);
    if (line === undefined) return;
    line.cancel();
    this.lines.delete(key);
    for (const job of line.jobs) this.queued.delete(job);
  }

  forget(job: Job): void {
    if (!this.queued.delete(job)) return;
    for (const { jobs } of this.lines.values()) jobs.delete(job);
  }

  stop(): void {
    for (const key of [...this.lines.keys()]) this.drop(key);
  }

  private next(key: string, everyMs: number): void {
    const line = this.lines.get(key);
    if (line === undefined) return;
    const [job] = line.jobs;
    if (job === undefined) return void this.lines.delete(key);
    line.jobs.delete(job);
    this.queued.delete(job);
    line.cancel = this.clock.after(everyMs, () => this.next(key, everyMs));
    this.release(job, key);
  }
}
