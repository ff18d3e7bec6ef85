import { jobFailure } from "../failure/error-record.js";
import { type JudgedEnd, judgeEnd } from "../failure/judge.js";
import type { Event, StopReason } from "../model/events.js";
import { settleGates } from "../model/gate.js";
import { dropRequests, dropWork, settle } from "../model/jobs.js";
import { change, type Job, jobById, type Run, type Scope, scopesUnder } from "../model/run.js";

export function cancelJobs(run: Run, ids: readonly number[], ending: JudgedEnd, at: number): void {
  for (const id of ids) cancelJob(run, jobById(run, id), ending, at);
}

export function cancelJob(run: Run, job: Job, ending: JudgedEnd, at: number): void {
  job.failure = jobFailure(job, ending, at);
  settle(run, job, "canceled", "lost");
}

export function stopJob(run: Run, job: Job, because: StopReason): void {
  change(run, job, () => {
    job.stopping = because;
  });
}

/** Give up everything unsettled in a scope. Run lists in it are over; what runs is being ended. */
export function abandonScope(run: Run, event: Extract<Event, { type: "scope.abandoned" }>, at: number): void {
  const scope = run.scopes.get(event.scope)!;
  dropBarriersInto(run, scope);
  for (const id of event.stopping) stopJob(run, jobById(run, id), event.because);
  cancelJobs(run, event.canceled, judgeEnd(event.code, event.reason), at);
  for (const inner of scopesUnder(scope)) {
    for (const job of inner.jobs.values()) {
      if (job.followingUp || wasToBeginAnew(job)) giveUpFollowUp(run, job);
      dropRequests(job);
      if (job.stopping === null) job.visitFor = null;
    }
  }
  if (event.because !== "loop_budget") return;
  if (scope.parent === null) run.fatal = { code: event.code, message: event.reason };
  else forceBranchesLost(run, event.scope);
}

/** Whether its own success restarted it before its dependents were told. */
function wasToBeginAnew(job: Job): boolean {
  return job.status === "completed" && job.settledAs === null && job.barrier === null;
}

/** It stays completed. What a forEach step would have opened is not there, so that nothing can build on it. */
function giveUpFollowUp(run: Run, job: Job): void {
  const as = job.step.definition.forEach ? "lost" : "met";
  const told = job.settledAs !== null;
  change(run, job, () => {
    dropWork(job);
    job.settledAs ??= as;
  });
  if (!told) settleGates(run, job, as, true);
}

/** A goto to a job that is given up takes with it only what lies outside the scope, such as the scope's reducer. */
function dropBarriersInto(run: Run, scope: Scope): void {
  const inside = new Set(scopesUnder(scope));
  for (const barrier of [...run.barriers.values()]) {
    if (![...barrier.targets.keys()].some((target) => inside.has(target.scope))) continue;
    for (const job of barrier.members) {
      if (!inside.has(job.scope)) continue;
      job.barrier = null;
      barrier.members.delete(job);
      barrier.targets.delete(job);
    }
    if (barrier.members.size === 0) run.barriers.delete(barrier.id);
  }
}

function forceBranchesLost(run: Run, scopeId: string): void {
  const scope = run.scopes.get(scopeId)!;
  scope.abandoned = true;
  for (const [reducer, gate] of scope.branchGates) {
    const waiting = scope.parent!.jobs.get(reducer)!;
    const join = waiting.join;
    if (join === null || gate.forcedLost) continue;
    const wasMet = gate.unmet === 0 && gate.lostGroups === 0;
    const wasLost = gate.lostGroups > 0;
    const wasTainted = gate.taintedGroups > 0;
    gate.forcedLost = true;
    if (wasMet) join.met -= 1;
    if (!wasLost) join.lost += 1;
    if (!wasTainted) join.failed += 1;
  }
}
