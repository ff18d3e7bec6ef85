import { judge } from "../failure/judge.js";
import type { EvaluationPurpose, EvaluationResult } from "../model/events.js";
import { findJob, type Job, type Run } from "../model/run.js";
import type { Json } from "../text/json.js";
import { oneLine } from "../text/plain-text.js";
import type { Decision } from "./decision.js";
import { blamed } from "./finish-attempt.js";
import { followEdges, followUp, followUpGoto } from "./follow-up.js";
import { climb } from "./ladder/ladder.js";
import { finishStandIn } from "./stand-in.js";

/** Limit for an unknown step id, returned by an expression, in a reason. */
const MAX_SHOWN_ID_CHARS = 100;

/** An expression has been evaluated: what asked for it goes on. A job that moved on meanwhile is left alone. */
export function finishEvaluation(
  decision: Decision,
  jobId: number,
  id: number,
  answer: EvaluationResult,
): void {
  const job = findJob(decision.run, jobId);
  const asked = job?.evaluation;
  if (job === null || asked === undefined || asked === null || asked.id !== id) return;
  const result = checkAnswer(decision.run, asked.purpose, answer);
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
    case "stand_in":
      return finishStandIn(decision, job, result);
  }
}

/**
 * What goes on record. A list that names a step which does not exist is refused whole, since what it meant is not what
 * it says. The words that an expression throws, or makes up as a name, are its own: they stand on one line of a terminal.
 */
function checkAnswer(run: Run, purpose: EvaluationPurpose, answer: EvaluationResult): EvaluationResult {
  if (!answer.ok) return { ...answer, reason: oneLine(answer.reason) };
  const unknown = stepsNamed(purpose, answer.value).find((id) => !run.graph.byId.has(id));
  if (unknown === undefined) return answer;
  const reason = `there is no step ${oneLine(unknown, MAX_SHOWN_ID_CHARS)}`;
  return { ok: false, code: "EXPRESSION_RESULT", reason, duration_ms: answer.duration_ms };
}

function stepsNamed(purpose: EvaluationPurpose, value: Json): readonly string[] {
  switch (purpose) {
    case "on_fail.run_js":
    case "on_success.run_js":
      return value as string[];
    case "on_fail.goto_js":
    case "on_success.goto_js":
      return value === null ? [] : [value as string];
    default:
      return [];
  }
}

/** Decided once a visit; one that cannot be evaluated is a failure of the step, and climbs the ladder. */
function decideIf(decision: Decision, job: Job, result: EvaluationResult): void {
  if (!result.ok) {
    const facts = { code: "IF_FAILED", message: `if: ${result.reason}` };
    const error = judge({ kind: "failed", facts }, blamed(decision, job, null));
    decision.emit({ type: "if.failed", job: job.id, error });
    climb(decision, job);
    return decision.add({ kind: "barriers" });
  }
  if (result.value === true) {
    const entered = job.step.atEnd ?? (job.visitFor === null ? "dependencies" : "routed");
    const reason = job.status === "recovering" ? "remediation" : entered;
    return decision.emit({ type: "jobs.ready", jobs: [job.id], reason });
  }
  decision.emit({ type: "jobs.skipped", jobs: [job.id], because: "if", reason: "its `if` is false" });
  decision.add({ kind: "settled", jobs: [job] });
}
