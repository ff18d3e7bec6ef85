import { describeNoProgress } from "../../failure/no-progress.js";
import { retryMax } from "./retry.js";
import { OF_REMEDIATION, pass, type Rung } from "./rung.js";

/** The step is stuck: once more in a fresh workspace, built from the checkpoints beside the old one. */
export const resetRung: Rung = {
  name: "reset",
  triesAgain: true,
  turnedOffBy: "routing",
  unconcerned: ({ run }) =>
    !run.definition.selfHeal ? pass("not_configured", "self_heal is not set") : null,
  consider({ run, job, failure, decision }) {
    if (!job.step.definition.usesWorkspace)
      return pass("does_not_concern", "the step does not work in a workspace");
    const { noProgress, resets } = job.heal;
    if (noProgress === null) return pass("does_not_concern", "the no-progress limit is not reached");
    if (job.visitFor?.role === "remediation") return OF_REMEDIATION;
    if (noProgress.rounds === true)
      return pass("does_not_concern", "what mends this step makes no progress, not the step itself");
    const max = run.definition.selfHeal!.maxResets;
    if (run.workspace.resets >= max) return pass("no_resets_left", `no hard resets left (${max} used)`);
    const attempts = retryMax(run, job.step.definition) + 1;
    if (1 + job.retriesInVisit + resets >= attempts)
      return pass("no_attempts_left", `no attempts left (${attempts} used)`);
    const reset = run.workspace.resets + 1;
    const reason = `hard reset ${reset} of ${max} (${describeNoProgress(noProgress)})`;
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
