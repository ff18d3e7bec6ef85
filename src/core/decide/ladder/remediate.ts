import { isRoundInVain } from "../../failure/no-progress.js";
import { repairsInVisit } from "../../model/definition.js";
import { type Job, routedAttempt } from "../../model/run.js";
import { ask } from "../ask.js";
import type { Decision } from "../decision.js";
import { exceedLoops, isUsedUp, loopCount, refuseOverBudget } from "../loop-budget.js";
import { requestNext } from "../run-lists.js";
import { collectTargets, jobsOf } from "../targets.js";
import { failJob } from "./fail.js";
import { inVain, pass, type Rung } from "./rung.js";

/** Run the repair steps in order; if all complete, the failed step runs once more. So often a visit as the file says. */
export const remediateRung: Rung = {
  name: "remediate",
  triesAgain: true,
  turnedOffBy: "routing",
  unconcerned({ job }) {
    const { onFail } = job.step.definition;
    return onFail.run.length === 0 && onFail.runJs === null
      ? pass("not_configured", "on_fail.run is not set")
      : null;
  },
  consider({ run, job, decision }) {
    const { onFail } = job.step.definition;
    if (job.visitFor?.role === "remediation")
      return pass("remediation_step", "remediation steps are not remediated themselves");
    const max = repairsInVisit(onFail);
    const used = job.remediationsInVisit;
    if (used >= max) return pass("no_remediation_left", `no remediation left in this visit (${used} used)`);
    const answer = job.answers["on_fail.run_js"];
    if (onFail.runJs !== null && answer === undefined) return { kind: "ask", purpose: "on_fail.run_js" };
    const { targets, notes } = collectTargets(run, job, onFail.run, answer);
    if (targets.length === 0) return pass("no_target", notes.join("; ") || "run_js named no step");
    if (isRoundInVain(job, targets)) return inVain(job);
    const refused = refuseOverBudget(decision, job, "remediate");
    if (refused !== null) return refused;
    const steps = targets.map(({ step }) => step.definition.id);
    const reason = [`run ${steps.join(", ")}, then try again`, ...notes].join("; ");
    return {
      kind: "act",
      reason,
      act() {
        const jobs = jobsOf(decision, job, targets);
        decision.emit({
          type: "remediation.started",
          job: job.id,
          attempt: routedAttempt(job),
          remediation: used + 1,
          max,
          steps,
          jobs: jobs.map(({ id }) => id),
          reason,
        });
        requestNext(decision, job);
      },
    };
  },
};

/** What has failed is tried once more: the attempt, or the `if` before it. */
function tryAgain(decision: Decision, job: Job): void {
  if (job.error?.attempt === null) return ask(decision, job, "if");
  decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "remediation" });
}

/** The repair list is over: all completed, or `failedStep` was not. */
export function remediationFinished(decision: Decision, job: Job, failedStep: string | null): void {
  const count = loopCount(decision.run, job, "remediate");
  if (failedStep === null && isUsedUp(count)) return exceedLoops(decision, job, "remediate", count);
  decision.emit({
    type: "remediation.finished",
    job: job.id,
    ok: failedStep === null,
    failed_step: failedStep,
    loop: failedStep === null ? count.loops + 1 : null,
  });
  if (failedStep === null) return tryAgain(decision, job);
  failJob(
    decision,
    job,
    "REMEDIATION_FAILED",
    `remediation failed: ${failedStep} did not complete (after ${job.error?.message ?? "a failure"})`,
  );
}
