import type { Job, Run } from "../../model/run.js";
import type { HoldExpiry } from "../../model/time-used.js";
import type { Decision } from "../decision.js";
import { matchRule } from "./rule.js";
import { type Climb, OF_REMEDIATION, pass, type Rung, type RungVerdict } from "./rung.js";

/** Nothing has answered the failure and the file says to hold: a person or an agent decides. */
export const holdRung: Rung = {
  name: "hold",
  triesAgain: false,
  turnedOffBy: "routing",
  unconcerned({ run, job, failure }) {
    if (job.step.atEnd === "finally") return pass("ends_run", "a `finally` step is never held");
    if (failure.code === "FLOW_CHANGED") return null;
    if (job.call !== null)
      return job.step.definition.hold === undefined
        ? pass("does_not_concern", "its program may catch it")
        : null;
    if (job.program?.because?.call?.isGiven)
      return pass(
        "does_not_concern",
        `somebody has decided that ${job.program.because.step.definition.id} fails`,
      );
    if (job.step.atEnd === "undo" || run.definition.unhandled === "hold") return null;
    return pass("not_configured", "`unhandled: hold` is not set");
  },
  consider(climb) {
    const { run, job, failure } = climb;
    if (job.visitFor?.role === "remediation") return OF_REMEDIATION;
    if (job.step.definition.continueOnFailure)
      return pass("continue_on_failure", "continue_on_failure is set");
    const { outcome } = matchRule(run, job, failure);
    if (job.step.atEnd === "undo") return holdIt(climb, "an undo that fails waits for a decision");
    if (outcome !== "NoHandler" && outcome !== "NoMatchingRule")
      return pass("rule_matched", `a rule matched (${outcome}), so the step fails`);
    return holdIt(climb, "nothing else handles this failure");
  },
};

function holdIt({ job, failure, decision }: Climb, reason: string): RungVerdict {
  return {
    kind: "act",
    reason,
    act: () =>
      decision.emit({
        type: "job.held",
        job: job.id,
        code: failure.code,
        message: failure.message,
        ...holdDue(decision, job),
      }),
  };
}

/**
 * What ends a hold of this job by itself. A job that was retried so and is held again has shown that it needs somebody. What
 * undoes a run waits for somebody in any case.
 */
export function holdExpiry(run: Run, job: Job): HoldExpiry | null {
  if (job.step.atEnd !== null || job.error?.code === "FLOW_CHANGED") return null;
  const expiry = job.step.definition.hold ?? run.definition.hold ?? null;
  return expiry?.action === "retry" && job.retriedByExpiry ? { ...expiry, action: "fail" } : expiry;
}

export function holdDue(
  { run, now }: Decision,
  job: Job,
): { due_at?: number; due_action?: HoldExpiry["action"] } {
  const expiry = holdExpiry(run, job);
  return expiry === null ? {} : { due_at: now + expiry.expiresMs, due_action: expiry.action };
}
