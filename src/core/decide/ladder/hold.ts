import { matchRule } from "./rule.js";
import { OF_REMEDIATION, pass, type Rung } from "./rung.js";

/** Nothing has answered the failure and the file says to hold: a person or an agent decides. */
export const holdRung: Rung = {
  name: "hold",
  triesAgain: false,
  turnedOffBy: "routing",
  unconcerned: ({ run }) =>
    run.definition.unhandled !== "hold" ? pass("not_configured", "`unhandled: hold` is not set") : null,
  consider({ run, job, failure, decision }) {
    if (job.visitFor?.role === "remediation") return OF_REMEDIATION;
    if (job.step.definition.continueOnFailure)
      return pass("continue_on_failure", "continue_on_failure is set");
    const { outcome } = matchRule(run, job, failure);
    if (outcome !== "NoHandler" && outcome !== "NoMatchingRule")
      return pass("rule_matched", `a rule matched (${outcome}), so the step fails`);
    return {
      kind: "act",
      reason: "nothing else handles this failure",
      act: () =>
        decision.emit({ type: "job.held", job: job.id, code: failure.code, message: failure.message }),
    };
  },
};
