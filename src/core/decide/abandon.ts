import type { StopReason } from "../model/events.js";
import { attemptDuration, codeOfStop } from "../model/jobs.js";
import { isInRecovery, isSettled, type Job, type Scope, scopesUnder } from "../model/run.js";
import type { Decision } from "./decision.js";

/** Give up everything unsettled in a scope and under it: what waits is canceled, what runs is being ended. */
export function abandonScope(
  decision: Decision,
  scope: Scope,
  because: StopReason,
  code: string,
  reason: string,
): void {
  const canceled: Job[] = [];
  const stopping: Job[] = [];
  for (const inner of scopesUnder(scope)) {
    for (const job of inner.jobs.values()) {
      if (isSettled(job.status)) continue;
      (isEnding(job) ? stopping : canceled).push(job);
    }
  }
  decision.emit({
    type: "scope.abandoned",
    scope: scope.id,
    because,
    code,
    reason,
    canceled: canceled.map(({ id }) => id),
    stopping: stopping.map(({ id }) => id),
  });
  const unanswered = endQuestions(decision, stopping, because);
  decision.add({ kind: "barriers" });
  decision.add({ kind: "settled", jobs: unanswered });
}

/** Give up one job that is unsettled, as `abandonScope` does with all of them. */
export function abandonJob(decision: Decision, job: Job, because: StopReason, reason: string): void {
  if (isSettled(job.status)) return;
  if (isEnding(job)) {
    decision.emit({ type: "jobs.stopping", jobs: [job.id], because, reason });
    return decision.add({ kind: "settled", jobs: endQuestions(decision, [job], because) });
  }
  decision.emit({ type: "jobs.canceled", jobs: [job.id], code: codeOfStop(because), reason });
  decision.add({ kind: "settled", jobs: [job] });
}

/** It is in an attempt, a question to a person included, or its recovery script is at work. */
function isEnding(job: Job): boolean {
  return job.status === "running" || job.question !== null || isInRecovery(job);
}

/** Attempts that wait for a person have no process to end: they are over as soon as they are given up. */
export function endQuestions(decision: Decision, jobs: readonly Job[], because: StopReason): Job[] {
  const asked = jobs.filter((job) => job.status === "waiting");
  for (const job of asked) {
    const durationMs = attemptDuration(job, decision.now);
    decision.emit({
      type: "attempt.stopped",
      job: job.id,
      attempt: job.attempt,
      because,
      duration_ms: durationMs,
    });
  }
  return asked;
}
