import { abandonScope } from "../abandon.js";
import { cascade } from "../cascade.js";
import type { Decision } from "../decision.js";
import { openScopesOf } from "../fan-out-opening.js";
import type { Job } from "../run.js";
import type { Rung } from "./rung.js";

/** The end of the ladder: the job is failed. Always applies. */
export const failRung: Rung = {
  name: "fail",
  consider({ job, failure, decision }) {
    return {
      kind: "act",
      reason: job.step.definition.continueOnFailure
        ? "no other rung applies; continue_on_failure"
        : "no other rung applies",
      act: () => failJob(decision, job, failure.code, failure.message),
    };
  },
};

/** Dependents are canceled, or go on with `continue_on_failure`; `fail_fast` gives up all that is unsettled. */
export function failJob(decision: Decision, job: Job, code: string, message: string): void {
  const handled = job.step.definition.continueOnFailure ? "continue_on_failure" : null;
  const partOf = job.visitFor?.role === "remediation" ? job.visitFor.by.id : null;
  const first = job.settledAs === null;
  decision.emit({ type: "job.failed", job: job.id, code, message, handled, partOf });
  // A tolerated forEach step has no items: its reducers run with an empty array.
  if (first && handled !== null) openScopesOf(decision, job);
  cascade(decision, [job]);
  const { run } = decision;
  if (handled === null && partOf === null && run.definition.failurePolicy === "fail_fast") {
    abandonScope(decision, run.root, "fail_fast", "FAIL_FAST", `${job.step.definition.id} failed`);
  }
}
