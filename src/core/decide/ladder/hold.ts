import type { HoldExpiry } from "../../model/definition.js";
import type { Job, Run } from "../../model/run.js";
import type { Decision } from "../decision.js";
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
        decision.emit({
          type: "job.held",
          job: job.id,
          code: failure.code,
          message: failure.message,
          ...holdDue(decision, job),
        }),
    };
  },
};

/** What ends a hold of this job by itself. A job that was retried so and is held again has shown that it needs somebody. */
export function holdExpiry(run: Run, job: Job): HoldExpiry | null {
  const expiry = job.step.definition.hold ?? run.definition.hold ?? null;
  return expiry?.action === "retry" && job.retriedByExpiry ? { ...expiry, action: "fail" } : expiry;
}

function holdDue({ run, now }: Decision, job: Job): { dueAt?: number; dueAction?: HoldExpiry["action"] } {
  const expiry = holdExpiry(run, job);
  return expiry === null ? {} : { dueAt: now + expiry.expiresMs, dueAction: expiry.action };
}
