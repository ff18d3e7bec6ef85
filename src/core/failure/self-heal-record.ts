import type { Event, HealStrategy } from "../model/events.js";
import type { FailureClass } from "../model/failure.js";
import { type Job, jobById, type Run } from "../model/run.js";

/** What the self-heal files and metrics say of an event, under their own names. */
export interface SelfHealRecord {
  readonly type:
    | "task.step.attempt.started"
    | "task.step.attempt.finished"
    | "task.step.attempt.failed"
    | "task.self_heal.triggered"
    | "task.self_heal.escalated"
    | "task.self_heal.exhausted"
    | "task.resume.from_step";
  readonly stepId: string;
  /** The step's place in the file, from 0. */
  readonly stepIndex: number;
  readonly attempt: number;
  readonly failureClass: FailureClass | null;
  readonly failureSignature: string | null;
  readonly diffHash: string | null;
  readonly strategy: HealStrategy | null;
}

/** Null for events that they do not mention. `run` is the run just after the event. */
export function selfHealRecord(run: Run, event: Event): SelfHealRecord | null {
  switch (event.type) {
    case "attempt.started":
      return record("task.step.attempt.started", jobById(run, event.job), null, event.attempt);
    case "attempt.succeeded":
      return {
        ...record("task.step.attempt.finished", jobById(run, event.job), null, event.attempt),
        diffHash: event.checkpoint?.diff_hash ?? null,
      };
    case "attempt.failed":
      return {
        ...record("task.step.attempt.failed", jobById(run, event.job), null, event.attempt),
        failureClass: event.error.class,
        failureSignature: event.error.signature,
        diffHash: event.error.diff_hash,
      };
    case "retry.scheduled":
      return record("task.self_heal.triggered", jobById(run, event.job), "soft_reset", event.attempt);
    case "reset.reserved":
      if (event.trigger === "requeue") return null;
      return record("task.self_heal.escalated", jobById(run, event.job), "hard_reset", event.attempt);
    case "requeue.scheduled":
      return record("task.self_heal.escalated", jobById(run, event.job), "requeue", event.attempt);
    case "job.dead_lettered":
      return record("task.self_heal.exhausted", jobById(run, event.job), "requeue", event.attempt);
    case "ladder.climbed": {
      const job = jobById(run, event.job);
      const givenUp = (event.rung === "fail" || event.rung === "hold") && event.attempt > 0;
      // With a queue, the dead letter says that it was given up.
      if (!givenUp || job.step.definition.noProgressLimit === null || job.queue.requeues > 0) return null;
      const tried = job.heal.resets > 0 ? "hard_reset" : job.retriesInVisit > 0 ? "soft_reset" : null;
      // If nothing was tried, nothing is exhausted.
      return tried === null ? null : record("task.self_heal.exhausted", job, tried, event.attempt);
    }
    case "operator.goto":
      return record("task.resume.from_step", jobById(run, event.target), null);
    default:
      return null;
  }
}

/** The failure is the last one of the job's visit; a success or a new visit has none. */
function record(
  type: SelfHealRecord["type"],
  job: Job,
  strategy: HealStrategy | null,
  attempt = job.attempt,
): SelfHealRecord {
  const { error } = job;
  return {
    type,
    stepId: job.step.definition.id,
    stepIndex: job.step.index,
    attempt,
    failureClass: error?.class ?? null,
    failureSignature: error?.signature ?? null,
    diffHash: error?.diff_hash ?? null,
    strategy,
  };
}
