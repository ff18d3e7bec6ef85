import { cascade } from "./cascade.js";
import type { Decision } from "./decision.js";
import { openScopesOf } from "./fan-out-opening.js";
import { takeGoto } from "./goto.js";
import { exceedLoops } from "./loop-budget.js";
import { chooseGoto, collectTargets } from "./routing-answers.js";
import type { Job } from "./run.js";
import { jobsOf, requestNext } from "./run-lists.js";

/**
 * A job has completed and has on_success routing: `run` + `run_js` in order, then `goto_js` / `goto`, and only then
 * its dependents. Each call goes on from where the log says it is.
 */
export function followUp(decision: Decision, job: Job): void {
  if (decision.run.options.only !== null) return release(decision, job);
  const { onSuccess } = job.step.definition;
  if (onSuccess.runJs !== null && job.answers["on_success.run_js"] === undefined)
    return ask(decision, job, "on_success.run_js");
  const { targets, notes } = collectTargets(decision, job, onSuccess.run, job.answers["on_success.run_js"]);
  if (targets.length === 0) return followUpGoto(decision, job);
  const jobs = jobsOf(decision, job, targets);
  decision.emit({
    type: "follow_up.started",
    job: job.id,
    steps: targets.map(({ step }) => step.definition.id),
    jobs: jobs.map(({ id }) => id),
    reason: ["on_success.run", ...notes].join("; "),
  });
  requestNext(decision, job);
}

/** A failing step stops the list and the goto, not the dependents. */
export function followUpListFinished(decision: Decision, job: Job, failedStep: string | null): void {
  decision.emit({ type: "follow_up.finished", job: job.id, ok: failedStep === null, failedStep });
  if (failedStep !== null) return release(decision, job);
  followUpGoto(decision, job);
}

export function followUpGoto(decision: Decision, job: Job): void {
  const { onSuccess } = job.step.definition;
  const { run } = decision;
  const wanted = onSuccess.goto !== null || onSuccess.gotoJs !== null;
  if (!wanted || !run.options.failureRouting || job.visitFor !== null) return release(decision, job);
  if (onSuccess.gotoJs !== null && job.answers["on_success.goto_js"] === undefined)
    return ask(decision, job, "on_success.goto_js");
  const choice = chooseGoto(run, job, onSuccess.goto, job.answers["on_success.goto_js"]);
  if (!choice.ok) return release(decision, job);
  if (job.scope.loops >= run.maxLoops) return exceedLoops(decision, job, "on_success.goto", job.scope.loops);
  takeGoto(decision, job, choice.target, "success", choice.reason);
}

function ask(decision: Decision, job: Job, purpose: "on_success.run_js" | "on_success.goto_js"): void {
  decision.emit({
    type: "evaluation.requested",
    id: decision.run.nextEvaluation,
    job: job.id,
    purpose,
    considered: [],
  });
}

function release(decision: Decision, job: Job): void {
  const first = job.settledAs === null;
  decision.emit({ type: "job.released", job: job.id });
  if (first) openScopesOf(decision, job);
  cascade(decision, [job]);
}
