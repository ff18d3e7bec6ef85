import { matchRule } from "./rule.js";
import { pass, type Rung } from "./rung.js";

/** Nothing has answered the failure and the file says to hold: a person or an agent decides. */
export const holdRung: Rung = {
  name: "hold",
  triesAgain: false,
  consider({ run, job, failure, decision }) {
    if (run.definition.unhandled !== "hold") return pass("`unhandled` is not hold");
    if (run.options.only !== null) return pass("one attempt of one step was asked for");
    if (!run.options.failureRouting) return pass("failure routing is off");
    if (job.visitFor?.role === "remediation")
      return pass("the failure of a remediation step belongs to the step it was to repair");
    if (job.step.definition.continueOnFailure) return pass("continue_on_failure");
    const { outcome } = matchRule(run, job, failure);
    if (outcome !== "NoHandler" && outcome !== "NoMatchingRule") return pass(`a rule matched: ${outcome}`);
    return {
      kind: "act",
      reason: outcome === "NoHandler" ? "the step has no failure handler" : "no rule matches",
      act: () =>
        decision.emit({ type: "job.held", job: job.id, code: failure.code, message: failure.message }),
    };
  },
};
