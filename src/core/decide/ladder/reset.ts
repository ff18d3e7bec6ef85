import { describeNoProgress } from "../../failure/no-progress.js";
import { retryMax } from "./retry.js";
import { pass, type Rung } from "./rung.js";

/** The step is stuck: once more in a fresh workspace, built from the checkpoints beside the old one. */
export const resetRung: Rung = {
  name: "reset",
  triesAgain: true,
  consider({ run, job, failure, decision }) {
    const { selfHeal } = run.definition;
    if (!selfHeal) return pass("no self_heal");
    if (run.options.only !== null) return pass("one attempt of one step was asked for");
    if (!run.options.failureRouting) return pass("failure routing is off");
    if (!job.step.definition.usesWorkspace) return pass("the step does not work in a workspace");
    const { noProgress, resets } = job.heal;
    if (noProgress === null) return pass("the no-progress limit is not reached");
    if (job.visitFor?.role === "remediation")
      return pass("the failure of a remediation step belongs to the step it was to repair");
    const max = selfHeal.maxResets;
    if (run.workspace.resets >= max) return pass(`no hard resets left (${max} used)`);
    const attempts = retryMax(run, job.step.definition) + 1;
    if (1 + job.retriesInVisit + resets >= attempts) return pass(`no attempts left (${attempts} used)`);
    const reset = run.workspace.resets + 1;
    const reason = `${describeNoProgress(noProgress)}: hard reset ${reset} of ${max}`;
    return {
      kind: "act",
      reason: `${failure.code}: ${reason}`,
      act: () =>
        decision.emit({
          type: "reset.reserved",
          job: job.id,
          attempt: job.attempt,
          trigger: "no_progress",
          reset,
          max,
          reason,
          key: null,
        }),
    };
  },
};
