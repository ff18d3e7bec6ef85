import type { Definition } from "../core/model/definition.js";
import type { Event, LoggedEvent } from "../core/model/events.js";

/** What the logs of some runs add up to, as `daruma stats --json` prints it. Rates are shares of attempts, 0 to 1. */
export interface RunStats {
  readonly runs: number;
  readonly attempts: number;
  readonly retries: number;
  readonly retry_rate: number;
  readonly by_action: readonly ActionStats[];
  readonly errors: readonly ErrorStats[];
  readonly timeouts: { readonly wall: number; readonly idle: number };
  /** Attempts that a job needed until it completed, the last included; null where nothing completed. */
  readonly attempts_until_success: number | null;
  readonly running_ms: number;
  /** Between a failed attempt and the one that it was retried with: backoff, recovery scripts, free places. */
  readonly retry_waiting_ms: number;
  readonly recovery_scripts: { readonly run: number; readonly failed: number };
}

export interface ActionStats {
  readonly action: string;
  readonly attempts: number;
  readonly failed: number;
  readonly retries: number;
  readonly retry_rate: number;
}

export interface ErrorStats {
  readonly code: string;
  readonly class: string;
  readonly count: number;
  readonly rate: number;
}

interface JobCount {
  /** Attempts since the job last completed. */
  tries: number;
  /** When the failed attempt ended that a retry is to follow. */
  failedAt: number | null;
  retryGranted: boolean;
}

/** Adds up one log after the other. */
export class StatsCounter {
  private runs = 0;
  private readonly actions = new Map<string, { attempts: number; failed: number; retries: number }>();
  private readonly errors = new Map<string, { class: string; count: number }>();
  private readonly scripts = { run: 0, failed: 0 };
  private runningMs = 0;
  private waitingMs = 0;
  private successes = 0;
  private triesOfSuccesses = 0;

  /** `stepOf` names the step of a job. */
  async addRun(
    definition: Definition,
    stepOf: (job: number) => string,
    pages: AsyncIterable<readonly LoggedEvent[]>,
  ): Promise<void> {
    this.runs += 1;
    const types = new Map(definition.steps.map(({ id, action }) => [id, action.type]));
    const jobs = new Map<number, JobCount>();
    for await (const page of pages) {
      for (const { event, at } of page) {
        if (!("job" in event)) continue;
        const job = jobs.get(event.job) ?? { tries: 0, failedAt: null, retryGranted: false };
        jobs.set(event.job, job);
        this.take(event, at, job, types.get(stepOf(event.job)) ?? "unknown");
      }
    }
  }

  private take(event: Event, at: number, job: JobCount, action: string): void {
    switch (event.type) {
      case "attempt.started":
        return this.started(job, at, action);
      case "attempt.succeeded":
        this.runningMs += event.durationMs;
        this.successes += 1;
        this.triesOfSuccesses += job.tries;
        job.tries = 0;
        return;
      case "attempt.failed":
        this.runningMs += event.durationMs;
        job.failedAt = at;
        this.actionOf(action).failed += 1;
        return this.failed(event.error.code, event.error.class);
      case "attempt.stopped":
        this.runningMs += event.durationMs;
        return;
      case "retry.scheduled":
      case "reset.reserved":
      case "requeue.scheduled":
      case "rule.reserved":
        job.retryGranted = true;
        return;
      case "recovery.finished":
        this.scripts.run += 1;
        if (!event.ok) this.scripts.failed += 1;
        return;
      default:
        return;
    }
  }

  private started(job: JobCount, at: number, action: string): void {
    const count = this.actionOf(action);
    count.attempts += 1;
    job.tries += 1;
    if (job.retryGranted) {
      count.retries += 1;
      this.waitingMs += at - (job.failedAt ?? at);
    }
    job.retryGranted = false;
  }

  private failed(code: string, failureClass: string): void {
    const count = this.errors.get(code) ?? { class: failureClass, count: 0 };
    count.count += 1;
    this.errors.set(code, count);
  }

  private actionOf(action: string): { attempts: number; failed: number; retries: number } {
    const count = this.actions.get(action) ?? { attempts: 0, failed: 0, retries: 0 };
    this.actions.set(action, count);
    return count;
  }

  result(): RunStats {
    const counts = [...this.actions.values()];
    const attempts = counts.reduce((sum, count) => sum + count.attempts, 0);
    const retries = counts.reduce((sum, count) => sum + count.retries, 0);
    const rate = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
    return {
      runs: this.runs,
      attempts,
      retries,
      retry_rate: rate(retries, attempts),
      by_action: [...this.actions]
        .map(([action, count]) => ({ action, ...count, retry_rate: rate(count.retries, count.attempts) }))
        .sort((first, second) => second.attempts - first.attempts),
      errors: [...this.errors]
        .map(([code, count]) => ({ code, ...count, rate: rate(count.count, attempts) }))
        .sort((first, second) => second.count - first.count),
      timeouts: {
        wall: this.errors.get("TIMEOUT")?.count ?? 0,
        idle: this.errors.get("IDLE_TIMEOUT")?.count ?? 0,
      },
      attempts_until_success: this.successes === 0 ? null : this.triesOfSuccesses / this.successes,
      running_ms: this.runningMs,
      retry_waiting_ms: this.waitingMs,
      recovery_scripts: this.scripts,
    };
  }
}
