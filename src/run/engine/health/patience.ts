import { retryMax } from "../../../core/decide/ladder/retry.js";
import type { Job, Run } from "../../../core/model/run.js";
import { answerableFor } from "../../../core/model/worker-names.js";
import type { PlaceWish } from "../../worker.js";
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

/** Which worker a job prefers for its next attempt, given where the last one failed. */
export function wishOf(run: Run, job: Job, isPatient: (job: Job) => boolean): PlaceWish {
  const mayProve = isMadeAgain(run, job);
  const { attemptWorker } = job;
  if (job.error === null || job.attempt === 0 || attemptWorker === null)
    return { on: null, worker: null, patient: false, mayProve };
  const worker = answerableFor(attemptWorker, job.attemptPlace) ?? attemptWorker;
  // The machine may be at fault; but what a script has repaired is on it, too.
  const on = job.repaired ? "same" : (job.step.definition.onFail.retry?.onWorker ?? "other");
  return { on: on === "any" ? null : on, worker, patient: on === "other" && isPatient(job), mayProve };
}

/** Whether a failure of its next attempt is normally followed by another attempt in the same visit. */
function isMadeAgain(run: Run, job: Job): boolean {
  const { definition, options } = run;
  if (!options.failure_routing || options.only !== null) return false;
  const { definition: step } = job.step;
  if (job.retriesInVisit + job.heal.resets < retryMax(run, step)) return true;
  if (definition.queue && job.queue.requeues + 1 < definition.queue.maxAttempts) return true;
  const handler = definition.failureHandlers.find(({ name }) => name === step.failureHandler);
  return handler?.rules.some(({ maxAttempts }) => job.charged + 1 < maxAttempts) ?? false;
}
