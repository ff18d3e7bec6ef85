import { takeGoto, usedUpBound } from "../goto.js";
import { refuseOverBudget } from "../loop-budget.js";
import { chooseGoto } from "../targets.js";
import { pass, type Rung } from "./rung.js";

/** Back to a step that this one depends on, and forward again from there. */
export const gotoRung: Rung = {
  name: "goto",
  triesAgain: true,
  consider({ run, job, decision }) {
    const { onFail } = job.step.definition;
    if (onFail.goto === null && onFail.gotoJs === null) return pass("no on_fail.goto");
    if (run.options.only !== null) return pass("one attempt of one step was asked for");
    if (!run.options.failureRouting) return pass("failure routing is off");
    if (job.visitFor !== null) return pass("the job was entered by a run list");
    const bound = usedUpBound(job, "failure");
    if (bound !== null) return pass(bound);
    const answer = job.answers["on_fail.goto_js"];
    if (onFail.gotoJs !== null && answer === undefined) return { kind: "ask", purpose: "on_fail.goto_js" };
    const choice = chooseGoto(run, job, onFail.goto, answer);
    if (!choice.ok) return pass(choice.reason);
    const refused = refuseOverBudget(decision, job, "goto");
    if (refused !== null) return refused;
    const to = choice.target.step.definition.id;
    return {
      kind: "act",
      reason: `${choice.reason}: back to ${to}`,
      act: () => takeGoto(decision, job, choice.target, "failure", choice.reason),
    };
  },
};
