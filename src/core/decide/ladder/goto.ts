import { isRoundInVain } from "../../failure/no-progress.js";
import { takeGoto, usedUpBound } from "../goto.js";
import { refuseOverBudget } from "../loop-budget.js";
import { chooseGoto } from "../targets.js";
import { inVain, pass, type Rung } from "./rung.js";

/** Back to a step that this one depends on, and forward again from there. */
export const gotoRung: Rung = {
  name: "goto",
  triesAgain: true,
  turnedOffBy: "routing",
  unconcerned({ job }) {
    const { onFail } = job.step.definition;
    return onFail.goto === null && onFail.gotoJs === null
      ? pass("not_configured", "on_fail.goto is not set")
      : null;
  },
  consider({ run, job, decision }) {
    const { onFail } = job.step.definition;
    if (job.visitFor !== null) return pass("run_list_step", "a run list started this step");
    const bound = usedUpBound(job, "failure");
    if (bound !== null) return pass("no_gotos_left", bound);
    const answer = job.answers["on_fail.goto_js"];
    if (onFail.gotoJs !== null && answer === undefined) return { kind: "ask", purpose: "on_fail.goto_js" };
    const choice = chooseGoto(run, job, onFail.goto, answer);
    if (!choice.ok) return pass("no_target", choice.reason);
    if (isRoundInVain(job, [choice.target])) return inVain(job);
    const refused = refuseOverBudget(decision, job, "goto");
    if (refused !== null) return refused;
    const to = choice.target.step.definition.id;
    return {
      kind: "act",
      reason: `${choice.note}back to ${to}${choice.by === "goto_js" ? " (goto_js)" : ""}`,
      act: () => takeGoto(decision, job, choice, "failure"),
    };
  },
};
