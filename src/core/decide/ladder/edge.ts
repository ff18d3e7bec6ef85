import { isRoundInVain } from "../../failure/no-progress.js";
import type { Job } from "../../model/run.js";
import type { Decision } from "../decision.js";
import { chooseEdge, takeEdge } from "../edges.js";
import { openScopesOf } from "../fan-out.js";
import { refuseOverBudget } from "../loop-budget.js";
import { inVain, OF_REMEDIATION, pass, type Rung } from "./rung.js";

/** A transition on failure matches: the job is failed, and its failure goes to another step with its context. */
export const edgeRung: Rung = {
  name: "edge",
  triesAgain: false,
  turnedOffBy: "routing",
  unconcerned: ({ job }) =>
    job.step.failureEdges.length === 0 ? pass("not_configured", "no transition on failure") : null,
  consider({ run, job, decision }) {
    if (job.visitFor?.role === "remediation") return OF_REMEDIATION;
    const choice = chooseEdge(run, job, "failure");
    if (choice.kind === "ask") return { kind: "ask", purpose: "transition", code: choice.code };
    if (choice.kind === "none")
      return pass(
        "no_transition_matches",
        choice.considered.map(({ to, why }) => `${to}: ${why}`).join("; "),
      );
    if (isRoundInVain(job, [{ step: choice.edge.to }])) return inVain(job);
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
    part_of: null,
    routed: handled === null,
  });
  if (first && handled !== null) openScopesOf(decision, job);
}
