import type { Job, Run } from "../../model/run.js";
import type { Decision } from "../decision.js";
import { chooseEdge, takeEdge } from "../edges.js";
import { openScopesOf } from "../fan-out.js";
import { refuseOverBudget } from "../loop-budget.js";
import { OF_REMEDIATION, type Pass, pass, type Rung, routingOff } from "./rung.js";

/** A transition on failure matches: the job is failed, and its failure goes to another step with its context. */
export const edgeRung: Rung = {
  name: "edge",
  triesAgain: false,
  consider({ run, job, decision }) {
    if (job.step.failureEdges.length === 0) return pass("not_configured", "no transition on failure");
    const off = edgesOff(run, job);
    if (off !== null) return off;
    const choice = chooseEdge(run, job, "failure");
    if (choice.kind === "ask") return { kind: "ask", purpose: "transition", code: choice.code };
    if (choice.kind === "none")
      return pass(
        "no_transition_matches",
        choice.considered.map(({ to, why }) => `${to}: ${why}`).join("; "),
      );
    const refused = choice.counted ? refuseOverBudget(decision, job, "edge") : null;
    if (refused !== null) return refused;
    const to = choice.edge.to.definition.id;
    return {
      kind: "act",
      reason: `transition ${choice.edge.definition.id} to ${to}${choice.status === "already_scheduled" ? ", which has already started" : ""}`,
      act() {
        failRouted(decision, job);
        decision.add(() => takeEdge(decision, job, choice, "failure"));
      },
    };
  },
};

/** Why the transitions of this job are not even looked at; null: they are. */
export function edgesOff(run: Run, job: Job): Pass | null {
  return routingOff(run) ?? (job.visitFor?.role === "remediation" ? OF_REMEDIATION : null);
}

/** Its dependents wait for what becomes of the route, unless the step says to go on without it. */
function failRouted(decision: Decision, job: Job): void {
  const { code, message } = job.error!;
  const handled = job.step.definition.continueOnFailure ? "continue_on_failure" : null;
  const first = job.settledAs === null;
  decision.emit({
    type: "job.failed",
    job: job.id,
    code,
    message,
    handled,
    partOf: null,
    routed: handled === null,
  });
  if (first && handled !== null) openScopesOf(decision, job);
}
