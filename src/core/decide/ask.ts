import type { EvaluationPurpose, ReadyReason, RungConsidered } from "../model/events.js";
import type { Job } from "../model/run.js";
import type { Decision } from "./decision.js";

/** Have an expression of the job evaluated. `considered` is the part of a climb that is behind it. */
export function ask(
  decision: Decision,
  job: Job,
  purpose: EvaluationPurpose,
  code: string | null = null,
  considered: readonly RungConsidered[] = [],
): void {
  decision.emit({
    type: "evaluation.requested",
    id: decision.run.nextEvaluation,
    job: job.id,
    purpose,
    considered,
    code,
  });
}

/** The job may start: now, or once its `if` is known. */
export function readyAfterIf(decision: Decision, job: Job, reason: ReadyReason): void {
  if (job.step.definition.if !== null) ask(decision, job, "if");
  else decision.emit({ type: "jobs.ready", jobs: [job.id], reason });
}
