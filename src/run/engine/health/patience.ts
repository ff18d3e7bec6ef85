import type { Job } from "../../../core/model/run.js";
import type { Clock } from "../clock.js";

/** How long a job waits for a worker other than the one where it failed, while the others are busy. */
export const PATIENCE_MS = 30_000;

/** How long ready jobs have waited for another worker, on the monotonic clock. */
export class Patience {
  private readonly waiting = new WeakMap<Job, { readonly attempt: number; readonly since: number }>();
  /** The ends of these waits, the next one first. */
  private ends: number[] = [];
  private cancelTimer: (() => void) | null = null;

  constructor(
    private readonly clock: Pick<Clock, "elapsed" | "after">,
    private readonly wake: () => void,
  ) {}

  readonly isPatient = (job: Job): boolean => {
    const since = this.sinceOf(job);
    return since === null || this.clock.elapsed() - since < PATIENCE_MS;
  };

  begin(job: Job): void {
    if (this.sinceOf(job) !== null) return;
    const since = this.clock.elapsed();
    this.waiting.set(job, { attempt: job.attempt, since });
    this.ends.push(since + PATIENCE_MS);
    if (this.cancelTimer === null) this.schedule();
  }

  stop(): void {
    this.cancelTimer?.();
    this.ends = [];
  }

  private sinceOf(job: Job): number | null {
    const found = this.waiting.get(job);
    return found?.attempt === job.attempt ? found.since : null;
  }

  private schedule(): void {
    const [next] = this.ends;
    this.cancelTimer = next === undefined ? null : this.clock.after(next - this.clock.elapsed(), this.end);
  }

  private readonly end = (): void => {
    const now = this.clock.elapsed();
    this.ends = this.ends.filter((at) => at > now);
    this.schedule();
    this.wake();
  };
}
