import type { Job } from "../../../core/model/run.js";
import type { Clock } from "../clock.js";

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
