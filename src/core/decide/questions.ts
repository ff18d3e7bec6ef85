import type { StopReason } from "../model/events.js";
import { attemptDuration } from "../model/jobs.js";
import type { Job } from "../model/run.js";
import type { Decision } from "./decision.js";

/** Attempts that wait for a person have no process to end: they are over as soon as they are given up. */
export function endQuestions(decision: Decision, jobs: readonly Job[], because: StopReason): Job[] {
  const asked = jobs.filter((job) => job.status === "waiting");
  for (const job of asked) {
    const durationMs = attemptDuration(job, decision.now);
    decision.emit({ type: "attempt.stopped", job: job.id, attempt: job.attempt, because, durationMs });
  }
  return asked;
}
