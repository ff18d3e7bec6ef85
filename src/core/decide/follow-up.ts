import type { Job } from "../model/run.js";
import { ask } from "./ask.js";
import type { Decision } from "./decision.js";
import { chooseEdge, takeEdge } from "./edges.js";
import { openScopesOf } from "./fan-out.js";
import { takeGoto, usedUpBound } from "./goto.js";
import { exceedLoops, isUsedUp, loopCount } from "./loop-budget.js";
import { requestNext } from "./run-lists.js";
import { chooseGoto, collectTargets, jobsOf } from "./targets.js";

/**
 * A job has completed and has on_success routing: `run` + `run_js` in order, then `goto_js` / `goto`, and only then
 * its dependents. Each call goes on from where the log says it is.
 */
export function followUp(decision: Decision, job: Job): void {
  if (decision.run.options.only !== null) return release(decision, job);
  const { onSuccess } = job.step.definition;
  if (onSuccess.runJs !== null && job.answers["on_success.run_js"] === undefined)
    return ask(decision, job, "on_success.run_js");
  const { targets, notes } = collectTargets(
    decision.run,
    job,
    onSuccess.run,
    job.answers["on_success.run_js"],
  );
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
  decision.emit({
    type: "follow_up.finished",
    job: job.id,
    ok: failedStep === null,
    failed_step: failedStep,
  });
  if (failedStep !== null) return followEdges(decision, job);
  followUpGoto(decision, job);
}

export function followUpGoto(decision: Decision, job: Job): void {
  const { onSuccess } = job.step.definition;
  const { run } = decision;
  const wanted = onSuccess.goto !== null || onSuccess.gotoJs !== null;
  if (!wanted || !run.options.failure_routing || job.visitFor !== null) return followEdges(decision, job);
  if (usedUpBound(job, "success") !== null) return followEdges(decision, job);
  if (onSuccess.gotoJs !== null && job.answers["on_success.goto_js"] === undefined)
    return ask(decision, job, "on_success.goto_js");
  const choice = chooseGoto(run, job, onSuccess.goto, job.answers["on_success.goto_js"]);
  if (!choice.ok) return followEdges(decision, job);
  const count = loopCount(run, job, "on_success.goto");
  if (isUsedUp(count)) return exceedLoops(decision, job, "on_success.goto", count);
  takeGoto(decision, job, choice, "success");
}

/** The transitions on success, tried last: the first that matches is taken, then the dependents are released. */
export function followEdges(decision: Decision, job: Job): void {
  const { run } = decision;
  if (job.step.successEdges.length === 0 || job.visitFor?.role === "remediation")
    return release(decision, job);
  const choice = chooseEdge(run, job, "success");
  if (choice.kind === "ask") return ask(decision, job, "transition", choice.code);
  const count = loopCount(run, job, "on_success.edge");
  if (choice.kind === "edge" && choice.counted && isUsedUp(count))
    return exceedLoops(decision, job, "on_success.edge", count);
  if (choice.kind === "edge") takeEdge(decision, job, choice, "success");
  // An edge back may have restarted the job itself.
  decision.add(() => {
    if (job.followingUp) release(decision, job);
  });
}

function release(decision: Decision, job: Job): void {
  const first = job.settledAs === null;
  decision.emit({ type: "job.released", job: job.id });
  if (first) openScopesOf(decision, job);
  decision.add({ kind: "settled", jobs: [job] });
}
