import type { FailureRoute, RungConsidered, RungName } from "../../model/events.js";
import type { Failure } from "../../model/failure.js";
import { type Job, nextJobId, type Run, routedAttempt } from "../../model/run.js";
import { ask } from "../ask.js";
import type { Decision } from "../decision.js";
import { chooseEdge } from "../edges.js";
import { boundReason, isUsedUp, loopCount } from "../loop-budget.js";
import { edgeRung } from "./edge.js";
import { failRung } from "./fail.js";
import { gotoRung } from "./goto.js";
import { holdRung } from "./hold.js";
import { parkRung } from "./park.js";
import { remediateRung } from "./remediate.js";
import { requeueRung } from "./requeue.js";
import { resetRung } from "./reset.js";
import { restartRung } from "./restart.js";
import { retryRung } from "./retry.js";
import { handlerOutcome, ruleRung } from "./rule.js";
import { pass, type Rung, type RungVerdict, turnedOff } from "./rung.js";
import { stopRung } from "./stop.js";

/** The rungs in order, each more invasive than the previous one. The first that applies acts. */
export const LADDER: readonly Rung[] = [
  stopRung,
  restartRung,
  parkRung,
  ruleRung,
  retryRung,
  resetRung,
  remediateRung,
  gotoRung,
  edgeRung,
  requeueRung,
  holdRung,
  failRung,
];

/**
 * Take a failed job up the ladder. `considered` is what an earlier part of the same climb has found, when the climb
 * goes on after an expression was evaluated.
 */
export function climb(decision: Decision, job: Job, considered: readonly RungConsidered[] = []): void {
  const failure = job.error;
  if (failure === null) throw new Error(`job ${job.id} has no failure to climb with`);
  const passed = [...considered];
  const marks: (() => void)[] = [];
  const last = considered.at(-1)?.rung;
  for (const rung of LADDER.slice(LADDER.findIndex(({ name }) => name === last) + 1)) {
    const verdict = consider(decision, job, rung, failure);
    switch (verdict.kind) {
      case "pass":
        passed.push({ rung: rung.name, applied: false, kind: verdict.why, reason: verdict.reason });
        if (verdict.mark !== undefined) marks.push(verdict.mark);
        break;
      case "ask":
        return ask(decision, job, verdict.purpose, verdict.code ?? null, passed);
      case "act":
      case "end": {
        const ends = verdict.kind === "end";
        passed.push(ends ? endedAt(rung.name, job, verdict.reason) : taken(rung.name, verdict.reason));
        if (ends) passed.push(taken("fail", "no other rung is tried"));
        decision.emit({
          type: "ladder.climbed",
          job: job.id,
          attempt: routedAttempt(job),
          rung: ends ? "fail" : rung.name,
          considered: passed,
          recovery: isBefore(rung, ruleRung) ? null : handlerOutcome(decision.run, job, failure),
          failure_route: failureRouteOf(decision.run, job, rung, ends),
        });
        for (const mark of marks) mark();
        verdict.act();
        return;
      }
    }
  }
}

function isBefore(rung: Rung, other: Rung): boolean {
  return LADDER.indexOf(rung) < LADDER.indexOf(other);
}

function taken(rung: RungName, reason: string): RungConsidered {
  return { rung, applied: true, kind: "applies", reason };
}

function endedAt(rung: RungName, { scope }: Job, reason: string): RungConsidered {
  const whole = scope.parent === null ? "the run" : scope.id;
  return { rung, applied: false, kind: "max_loops_used", reason: `${reason}; ${whole} ends here` };
}

/** What a step that runs when the run ends can climb: the rest would lead to other steps, or back. */
const AT_END: ReadonlySet<RungName> = new Set(["stop", "restart", "park", "rule", "retry", "hold", "fail"]);
const NOT_ROUTED = pass("ends_run", "undo and finally steps are not routed");

function consider(decision: Decision, job: Job, rung: Rung, failure: Failure): RungVerdict {
  if (job.step.atEnd !== null && !AT_END.has(rung.name)) return NOT_ROUTED;
  const climb = { run: decision.run, job, failure, now: decision.now, decision };
  const passed = rung.unconcerned?.(climb) ?? turnedOff(rung, decision.run);
  if (passed !== null) return passed;
  const verdict = rung.consider(climb);
  const bound = verdict.kind !== "pass" && rung.triesAgain ? boundReason(job) : null;
  return bound === null ? verdict : pass("no_attempts_left", bound);
}

/** Diagnostics of a failure's route: tried only once nothing gentler applies. */
function failureRouteOf(run: Run, job: Job, rung: Rung, ends: boolean): FailureRoute | null {
  const none = {
    attempted: false,
    selected_edge_id: null,
    target_node_id: null,
    target_node_key: null,
    considered: [],
  };
  if (rung === stopRung) return { ...none, status: "skipped_terminal" };
  const isBeforeEdge = isBefore(rung, edgeRung);
  if (isBeforeEdge && !ends) return null;
  const isOff =
    job.step.atEnd !== null || turnedOff(edgeRung, run) !== null || job.visitFor?.role === "remediation";
  if (isBeforeEdge || isOff) return { ...none, status: "no_route" };
  const choice = chooseEdge(run, job, "failure");
  if (choice.kind === "ask") return null;
  const refused = choice.kind === "edge" && choice.counted && isUsedUp(loopCount(run, job, "edge"));
  if (rung !== edgeRung || choice.kind === "none" || refused)
    return {
      ...none,
      attempted: job.step.failureEdges.length > 0,
      status: "no_route",
      considered: choice.considered,
    };
  const target = job.scope.jobs.get(choice.edge.to) ?? null;
  return {
    attempted: true,
    selected_edge_id: choice.edge.definition.id,
    target_node_id: target?.id ?? nextJobId(run),
    target_node_key: choice.edge.to.definition.id,
    status: choice.status,
    considered: choice.considered,
  };
}
