import { isRetryable } from "../../failure/judge.js";
import { describeNoProgress } from "../../failure/no-progress.js";
import type { Backoff, StepDefinition } from "../../model/definition.js";
import type { Failure } from "../../model/failure.js";
import type { Run } from "../../model/run.js";
import { durationAmount } from "../../text/amount-text.js";
import { backoffDelayMs, type JitterSeed, MAX_RETRY_AFTER_MS, retryDelayMs } from "../backoff.js";
import { refuseOverBudget } from "../loop-budget.js";
import { NO_ATTEMPT, pass, type Rung, USELESS } from "./rung.js";

/** Repeats the step after its backoff, while this visit has retries left and the error is worth one. */
export const retryRung: Rung = {
  name: "retry",
  triesAgain: true,
  turnedOffBy: "routing",
  consider({ run, job, failure, now, decision }) {
    const policy = job.step.definition.onFail.retry;
    const max = retryMax(run, job.step.definition);
    if (max === 0) return pass("not_configured", "retries are not set");
    if (failure.attempt === null) return NO_ATTEMPT;
    // A hard reset takes one of the step's attempts as a retry does.
    if (job.retriesInVisit + job.heal.resets >= max)
      return pass(
        "no_retries_left",
        `no retries left${job.queue.requeues > 0 ? " in this round" : ""} (${max} used)`,
      );
    if (failure.final) return USELESS;
    if (job.heal.noProgress !== null) return pass("no_progress", describeNoProgress(job.heal.noProgress));
    if (!isRetryable(failure, policy?.on ?? []))
      return pass("not_retryable", notRetryable(failure.code, failure.class, policy?.on ?? []));
    const retry = job.retriesInVisit + 1;
    const seed = { run: run.id, job: job.id, attempt: job.attempt };
    const delayMs = retryDelayMs(policy?.backoff ?? null, failure, retry, seed);
    if (asksForLonger(failure, policy?.backoff ?? null, retry, seed))
      return pass(
        "asks_for_longer",
        `it asks to be tried again after ${durationAmount(failure.retry_after_ms!)}; a retry waits for at most ${durationAmount(MAX_RETRY_AFTER_MS)}`,
      );
    // What led to the end of the run is no reason not to undo it.
    const refused = job.step.atEnd === null ? refuseOverBudget(decision, job, "retry") : null;
    if (refused !== null) return refused;
    const reason = `${failure.code}: retry ${retry} of ${max}${delayMs > 0 ? ` in ${durationAmount(delayMs)}` : ""}`;
    return {
      kind: "act",
      reason,
      act() {
        decision.emit({
          type: "retry.scheduled",
          job: job.id,
          attempt: job.attempt,
          retry,
          max,
          delay_ms: delayMs,
          due_at: now + delayMs,
          reason,
        });
        if (delayMs === 0) decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "retry" });
      },
    };
  },
};

/** Longer than anybody waits for a retry, and than the step's own backoff waits anyway. */
function asksForLonger(
  { retry_after_ms: askedMs }: Failure,
  backoff: Backoff | null,
  retry: number,
  seed: JitterSeed,
): boolean {
  if (askedMs === null || askedMs <= MAX_RETRY_AFTER_MS) return false;
  return backoff === null || backoffDelayMs(backoff, retry, seed) < askedMs;
}

/** `--retry-max` overrides every step's own number. */
export function retryMax(run: Run, step: StepDefinition): number {
  return run.options.retry_max ?? step.onFail.retry?.max ?? 0;
}

function notRetryable(code: string, failureClass: string, on: readonly string[]): string {
  if (on.length > 0) return `${code} (${failureClass}) is not in retry.on: ${on.join(", ")}`;
  return `${code} (${failureClass}) is not retryable`;
}
