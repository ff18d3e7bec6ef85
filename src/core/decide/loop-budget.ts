import type { LoopTransition } from "../model/events.js";
import { brokeOf } from "../model/excerpt.js";
import type { Job, Run, Scope } from "../model/run.js";
import { abandonScope } from "./abandon.js";
import type { Decision } from "./decision.js";
import { decideBranchesOf } from "./fan-out.js";
import { failJob } from "./ladder/fail.js";
import type { RungVerdict } from "./ladder/rung.js";

/**
 * What max_loops is compared with. Loops are the routing transitions of a scope other than retries; the retries of a
 * job in this run count for that job alone, and only where it wants another.
 */
interface LoopCount {
  readonly retries: number;
  readonly loops: number;
  readonly max: number;
}

/** What this transition of the job is compared with. */
export function loopCount(run: Run, job: Job, transition: LoopTransition): LoopCount {
  return {
    retries: transition === "retry" ? job.retriesInRun : 0,
    // A program may call any number of steps in a scope: each counts for itself.
    loops: job.call === null ? job.scope.loops : job.remediationsInVisit,
    max: run.maxLoops,
  };
}

export function isUsedUp({ retries, loops, max }: LoopCount): boolean {
  return retries + loops >= max;
}

/** The transition was to follow a success: the job stays completed. */
export function isAfterSuccess(transition: LoopTransition): boolean {
  return transition === "on_success.goto" || transition === "on_success.edge";
}

/** `3 retries + 2 loops`, or `2 loops` where retries do not count. */
export function describeCount(transition: LoopTransition, { retries, loops }: LoopCount): string {
  const loopsText = counted(loops, "loop", "loops");
  return transition === "retry" ? `${counted(retries, "retry", "retries")} + ${loopsText}` : loopsText;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function describeUsedUp(transition: LoopTransition, count: LoopCount): string {
  return `max_loops (${count.max}) is used up: ${describeCount(transition, count)}`;
}

/** The verdict of a rung whose transition max_loops does not allow; null: it does. */
export function refuseOverBudget(
  decision: Decision,
  job: Job,
  transition: LoopTransition,
): RungVerdict | null {
  const count = loopCount(decision.run, job, transition);
  if (!isUsedUp(count)) return null;
  return {
    kind: "end",
    reason: describeUsedUp(transition, count),
    act: () => exceedLoops(decision, job, transition, count),
  };
}

/**
 * The transition past max_loops: the job fails (a completed one stays completed), every unsettled job of its scope is
 * canceled and the scope fails, whatever other rungs and policies exist.
 */
export function exceedLoops(
  decision: Decision,
  job: Job,
  transition: LoopTransition,
  count: LoopCount,
): void {
  const { retries, loops, max } = count;
  const { id } = job.step.definition;
  decision.emit({
    type: "loop.exceeded",
    job: job.id,
    scope: job.scope.id,
    transition,
    count: retries + loops,
    retries,
    max,
  });
  const failed = !isAfterSuccess(transition);
  const message = failed
    ? `${describeCause(job)}, and ${describeUsedUp(transition, count)}`
    : `its ${transition} is not taken: ${describeUsedUp(transition, count)}`;
  if (job.call !== null) return failJob(decision, job, "LOOP_BUDGET_EXCEEDED", message);
  if (failed) {
    decision.emit({
      type: "job.failed",
      job: job.id,
      code: "LOOP_BUDGET_EXCEEDED",
      message,
      handled: null,
      part_of: null,
      routed: false,
    });
  }
  abandonScope(decision, job.scope, "loop_budget", "LOOP_BUDGET_EXCEEDED", `${id}: ${message}`);
  if (job.scope.parent === null) return;
  decision.add(() => giveUpBranch(decision, job.scope));
}

/** The scope is over, and with it the branch of every reducer that it feeds. */
function giveUpBranch(decision: Decision, scope: Scope): void {
  const lost = [...scope.jobs.values()].filter((job) => job.settledAs === "lost");
  decision.add({ kind: "settled", jobs: lost });
  decideBranchesOf(decision, scope);
}

/** Describes the failure that wanted the transition, for somebody who has to fix it. */
function describeCause({ error }: Job): string {
  return error === null ? "it failed" : `${brokeOf(error)} (${error.code})`;
}

/** An operator's retry with `max_retries` bounds the attempts that follow it. */
export function isAtBound(job: Job): boolean {
  return job.allowed !== null && job.charged >= job.allowed;
}

/** Why a rung that would begin another attempt does not; null: nothing keeps it from doing so. */
export function boundReason(job: Job): string | null {
  if (!isAtBound(job)) return null;
  return `no attempts left of those that the operator's retry allowed (${job.allowed})`;
}
