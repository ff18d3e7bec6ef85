import { cascade } from "./cascade.js";
import type { Consequence, Decision } from "./decision.js";
import { openScopesOf } from "./fan-out.js";
import { followUpListFinished } from "./follow-up.js";
import { closeBarriersThatAreDone } from "./goto.js";
import { failFast } from "./ladder/fail.js";
import { remediationFinished } from "./ladder/remediate.js";
import { endRoutesTo } from "./stand-in.js";

/** Look at everything that follows from what has happened so far, until nothing is left. */
export function drain(decision: Decision): void {
  for (let item = decision.take(); item !== undefined; item = decision.take()) {
    if (typeof item === "function") item();
    else lookAt(decision, item);
  }
}

/** Put this on an empty agenda and look at all that follows from it. */
export function follow(decision: Decision, item: Consequence): void {
  decision.add(item);
  drain(decision);
}

function lookAt(decision: Decision, item: Consequence): void {
  switch (item.kind) {
    case "settled":
      return cascade(decision, item.jobs);
    case "visit_over":
      return endRoutesTo(decision, item.job);
    case "fan_out":
      return openScopesOf(decision, item.job);
    case "list_over":
      return item.role === "remediation"
        ? remediationFinished(decision, item.job, item.failedStep)
        : followUpListFinished(decision, item.job, item.failedStep);
    case "fail_fast":
      return failFast(decision, item.job);
    case "barriers":
      return closeBarriersThatAreDone(decision);
  }
}
