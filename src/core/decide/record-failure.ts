import { classify } from "../failure/classify.js";
import { isIdleAgain, judgeProgress } from "../failure/no-progress.js";
import { judgeRounds } from "../failure/rounds.js";
import { failureSignature } from "../failure/signature.js";
import type { OpenBreaker } from "../model/commands.js";
import type { NoProgress } from "../model/events.js";
import type { Failure, FailureFacts } from "../model/failure.js";
import type { Job } from "../model/run.js";
import { iso } from "../text/iso-time.js";
import type { Decision } from "./decision.js";
import { breakersFor } from "./ladder/park.js";

/** A failure that reaches the no-progress limit is of the class `stuck_no_progress`, and so is a second silence. */
export function recordAttemptFailure(
  decision: Decision,
  job: Job,
  facts: FailureFacts,
  open: readonly OpenBreaker[],
): { error: Failure; no_progress: NoProgress | null; breakers?: readonly string[] } {
  const { noProgressLimit } = job.step.definition;
  const error = recordFailure(decision, job, facts, job.attempt);
  const breakers = breakersFor(decision.run, job, error, open);
  if (breakers.length > 0) return { error, no_progress: null, breakers };
  const inVisit =
    typeof noProgressLimit === "number" ? judgeProgress(job.heal, error, noProgressLimit) : null;
  const noProgress = judgeRounds(decision.run, job, error) ?? inVisit;
  if (noProgress === null && !isIdleAgain(job.heal, error)) return { error, no_progress: null };
  return {
    error: { ...error, class: "stuck_no_progress", original_class: error.class },
    no_progress: noProgress,
  };
}

/** The record of a failure as it goes into the log. `attempt` is null where there was none. */
export function recordFailure(
  { now }: Decision,
  job: Job,
  facts: FailureFacts,
  attempt: number | null,
): Failure {
  const classified = classify(facts);
  const { id, action } = job.step.definition;
  return {
    ...classified,
    action: action.type,
    step_id: id,
    job_id: job.id,
    attempt,
    timestamp: iso(now),
    signature: failureSignature(classified),
    diff_hash: facts.diffHash ?? null,
    changed_files: facts.changedFiles ?? [],
    ...(facts.resourceLimit === undefined ? {} : { resource_limit: facts.resourceLimit }),
    original_class: null,
    cause: null,
  };
}
