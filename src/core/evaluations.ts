import { cascade } from "./cascade.js";
import type { Decision } from "./decision.js";
import type { EvaluationResult } from "./events.js";
import { followEdges, followUp, followUpGoto } from "./follow-up.js";
import { failJob } from "./ladder/fail.js";
import { climb } from "./ladder/ladder.js";
import { findJob, type Job } from "./run.js";

/** An expression has been evaluated: what asked for it goes on. A job that moved on meanwhile is left alone. */
export function finishEvaluation(
  decision: Decision,
  jobId: number,
  id: number,
  result: EvaluationResult,
): void {
  const job = findJob(decision.run, jobId);
  const asked = job?.evaluation;
  if (job === null || asked === undefined || asked === null || asked.id !== id) return;
  decision.emit({ type: "evaluation.finished", id, job: job.id, purpose: asked.purpose, result });
  switch (asked.purpose) {
    case "if":
      return decideIf(decision, job, result);
    case "on_fail.run_js":
    case "on_fail.goto_js":
      return climb(decision, job, asked.considered);
    case "on_success.run_js":
      return followUp(decision, job);
    case "transition":
      return job.followingUp ? followEdges(decision, job) : climb(decision, job, asked.considered);
    case "on_success.goto_js":
      return followUpGoto(decision, job);
  }
}

/** Decided once a visit; an `if` that cannot be evaluated fails the job. */
function decideIf(decision: Decision, job: Job, result: EvaluationResult): void {
  if (!result.ok) return failJob(decision, job, "IF_FAILED", `if: ${result.reason}`);
  if (result.value === true) {
    return decision.emit({
      type: "jobs.ready",
      jobs: [job.id],
      reason: job.visitFor === null ? "dependencies" : "routed",
    });
  }
  decision.emit({ type: "jobs.skipped", jobs: [job.id], reason: "its `if` is false" });
  cascade(decision, [job]);
}
