import { traitsOf } from "../../model/failure.js";
import { pass, type Rung, SINGLE_ATTEMPT } from "./rung.js";

/** The worker or the engine was lost, not the step's fault: again at once, at no cost to any other budget. */
export const restartRung: Rung = {
  name: "restart",
  triesAgain: false,
  consider({ run, job, failure, decision }) {
    if (!traitsOf(failure.class).lost)
      return pass("does_not_concern", `class ${failure.class} is not infrastructure`);
    if (run.options.only !== null) return SINGLE_ATTEMPT;
    const limit = run.definition.maxRecoveries;
    if (job.restartsInVisit >= limit) return pass("no_restarts_left", `no restarts left (${limit} used)`);
    const restart = job.restartsInVisit + 1;
    return {
      kind: "act",
      reason: `${failure.code}: restart ${restart} of ${limit}`,
      act() {
        decision.emit({
          type: "restart.granted",
          job: job.id,
          attempt: job.attempt,
          recovery: restart,
          limit,
        });
        decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "restart" });
      },
    };
  },
};
