import { isOver, type Job, type Scope } from "../../model/run.js";
import { abandonScope } from "../abandon.js";
import { endCalls } from "../calls.js";
import type { Decision } from "../decision.js";
import { openScopesOf } from "../fan-out.js";
import type { Rung } from "./rung.js";

/** The end of the ladder: the job is failed. Always applies. */
export const failRung: Rung = {
  name: "fail",
  triesAgain: false,
  turnedOffBy: "nothing",
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

/** With `fail_fast`, an unhandled failure cancels everything that is unsettled. */
export function failFast(decision: Decision, job: Job): void {
  const { run } = decision;
  if (run.definition.failurePolicy !== "fail_fast" || run.cancelRequested !== null) return;
  abandonScope(decision, run.root, "fail_fast", "FAIL_FAST", `${job.step.definition.id} failed`);
}

/** A reducer's join may still handle the failure: whether the run fails fast is known when it is decided. */
export function mayBeTolerated(job: Job): boolean {
  if (job.handled !== null) return true;
  for (let scope: Scope | null = job.scope; scope !== null; scope = scope.parent) {
    for (const reducer of scope.branchGates.keys()) {
      const waiting = scope.parent!.jobs.get(reducer);
      if (reducer.definition.join.kind !== "all" && waiting?.status === "blocked") return true;
    }
  }
  return false;
}

/** Dependents are canceled, or go on with `continue_on_failure`; `fail_fast` gives up all that is unsettled. */
export function failJob(decision: Decision, job: Job, code: string, message: string): void {
  const handled = job.step.definition.continueOnFailure ? "continue_on_failure" : null;
  const partOf = job.visitFor?.role === "remediation" ? job.visitFor.by.id : (job.call?.by.id ?? null);
  const first = job.settledAs === null;
  decision.emit({ type: "job.failed", job: job.id, code, message, handled, part_of: partOf, routed: false });
  // A tolerated forEach step has no items: its reducers run with an empty array.
  if (first && handled !== null) openScopesOf(decision, job);
  decision.add({ kind: "settled", jobs: [job] });
  endCalls(decision, job);
  if (handled === null && partOf === null && job.step.atEnd === null)
    decision.add(() => {
      if (!isOver(decision.run) && !mayBeTolerated(job)) failFast(decision, job);
    });
}
