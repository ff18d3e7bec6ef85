import { abandonScope } from "./abandon.js";
import { cascade } from "./cascade.js";
import type { Decision } from "./decision.js";
import { decideBranchesOf } from "./join.js";
import type { Job } from "./run.js";

export type Transition = "retry" | "remediate" | "goto" | "edge" | "on_success.goto" | "on_success.edge";

/**
 * The transition past max_loops: the job fails (a completed one stays completed), every unsettled job of its scope is
 * canceled and the scope fails, whatever other rungs and policies exist.
 */
export function exceedLoops(decision: Decision, job: Job, transition: Transition, count: number): void {
  const { run } = decision;
  const max = run.maxLoops;
  const message = `${transition} of ${job.step.definition.id} would be routing transition ${count + 1} of scope ${job.scope.id}; max_loops is ${max}`;
  decision.emit({ type: "loop.exceeded", job: job.id, scope: job.scope.id, transition, count, max });
  if (!transition.startsWith("on_success")) {
    decision.emit({
      type: "job.failed",
      job: job.id,
      code: "LOOP_BUDGET_EXCEEDED",
      message,
      handled: null,
      partOf: null,
      routed: false,
    });
  }
  abandonScope(decision, job.scope, "loop_budget", "LOOP_BUDGET_EXCEEDED", message);
  if (job.scope.parent === null) return;
  cascade(
    decision,
    [...job.scope.jobs.values()].filter((other) => other.settledAs === "lost"),
  );
  decideBranchesOf(decision, job.scope);
}
