import { traitsOf } from "../../model/failure.js";
import { pass, type Rung } from "./rung.js";

/** The worker or the engine was lost, not the step's fault: again at once, at no cost to any other budget. */
export const restartRung: Rung = {
  name: "restart",
  triesAgain: false,
  turnedOffBy: "only",
  unconcerned: ({ failure }) =>
    !traitsOf(failure.class).lost
      ? pass("does_not_concern", `only for infrastructure failures; this was ${failure.class}`)
      : null,
  consider({ run, job, failure, decision }) {
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
