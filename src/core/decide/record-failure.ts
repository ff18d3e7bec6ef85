import { type Blamed, judge } from "../failure/judge.js";
import { isIdleAgain, judgeProgress } from "../failure/no-progress.js";
import { judgeRounds } from "../failure/rounds.js";
import type { OpenBreaker } from "../model/commands.js";
import type { NoProgress } from "../model/events.js";
import type { Failure } from "../model/failure.js";
import type { Outcome, Succeeded } from "../model/outcome.js";
import type { Job } from "../model/run.js";
import type { Decision } from "./decision.js";
import { breakersFor } from "./ladder/park.js";

/** A failure that reaches the no-progress limit is of the class `stuck_no_progress`, and so is a second silence. */
export function judgeAttempt(
  decision: Decision,
  job: Job,
  outcome: Exclude<Outcome, Succeeded>,
  open: readonly OpenBreaker[],
): { error: Failure; no_progress: NoProgress | null; breakers?: readonly string[] } {
  const { noProgressLimit } = job.step.definition;
  const error = judge(outcome, blamed(decision, job, job.attempt));
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

/** `attempt` is null where the step has failed before it could make one. */
export function blamed({ now }: Decision, { id, step }: Job, attempt: number | null): Blamed {
  const { id: step_id, action } = step.definition;
  return { action: action.type, step_id, job_id: id, attempt, at: now };
}
