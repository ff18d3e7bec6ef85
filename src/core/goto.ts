import { askIf, giveUpLost, startAll } from "./cascade.js";
import type { Decision } from "./decision.js";
import { gateState, reducersWaiting, waitingFor } from "./gate.js";
import { decideJoin } from "./join.js";
import type { Barrier, Job, Run, Scope } from "./run.js";
import { enterNextVisit } from "./run-lists.js";

/** Jump back: a barrier over the target and all that depends on it, closed when nothing in it runs any more. */
export function takeGoto(decision: Decision, job: Job, target: Job, trigger: "failure" | "success", reason: string): void {
  const { run } = decision;
  decision.emit({
    type: "goto.taken", job: job.id, attempt: job.attempt, target: target.id, to: target.step.definition.id,
    trigger, loop: job.scope.loops + 1, reason,
  });
  const members = descendants(run, target);
  const touched = new Set<Barrier>();
  for (const member of members) if (member.barrier !== null) touched.add(member.barrier);
  const [widened, ...merged] = touched;
  const id = widened?.id ?? run.nextBarrier;
  const added = members.filter((member) => member.barrier === null || member.barrier !== widened);
  decision.emit({
    type: "barrier.opened", barrier: id, target: target.id,
    members: added.map((member) => member.id), merged: merged.map((barrier) => barrier.id),
  });
  const barrier = run.barriers.get(id)!;
  const ending = [...barrier.endingAttempts].filter((member) => member.stopping === null);
  if (ending.length > 0) {
    decision.emit({
      type: "jobs.stopping", jobs: ending.map((member) => member.id), because: "superseded",
      reason: `goto ${target.step.definition.id}`,
    });
  }
  closeBarrierIfDone(decision, barrier);
}

/** The target and every job that depends on it, directly or not, in whatever scope. */
function descendants(run: Run, target: Job): Job[] {
  const found = new Set<Job>([target]);
  for (const job of found) {
    for (const waiting of waitingFor(job)) found.add(waiting.job);
    for (const dependent of dependentsInScope(job)) found.add(dependent);
    if (job.step.definition.forEach) for (const reducer of reducersWaiting(run, job)) found.add(reducer);
  }
  return [...found];
}

/** Jobs of the same scope that depend on this one, also through items, of which there may be none just now. */
function* dependentsInScope(job: Job): Generator<Job> {
  const { depth, jobs } = job.scope;
  const through = new Set([job.step]);
  for (const step of through) {
    for (const { step: next } of step.dependents) {
      if (next.path.length > depth) through.add(next);
      else if (jobs.has(next)) yield jobs.get(next)!;
    }
  }
}

export function closeBarrierIfDone(decision: Decision, barrier: Barrier): void {
  if (barrier.endingAttempts.size > 0) return;
  const members = [...barrier.members];
  const [retired, invalidated] = partition(members, (job) => isInsideMember(job.scope, barrier));
  decision.emit({
    type: "barrier.closed", barrier: barrier.id,
    invalidated: invalidated.map((job) => job.id), retired: retired.map((job) => job.id),
  });
  // A reducer may find all of its branches still settled: its join is then decided anew, at once.
  for (const job of invalidated) decideJoin(decision, job);
  startTargets(decision, [...barrier.targets].filter((job) => !retired.includes(job)));
  startAll(decision, invalidated, "goto");
  giveUpLost(decision, invalidated);
  for (const job of members) enterNextVisit(decision, job);
}

/** The job's item scope was made by a member: with the member's output the scope is gone. */
function isInsideMember(scope: Scope, barrier: Barrier): boolean {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    if (at.opener !== null && barrier.members.has(at.opener)) return true;
  }
  return false;
}

/** A target starts even if it is a routed step: somebody has just routed to it. */
function startTargets(decision: Decision, targets: readonly Job[]): void {
  for (const job of targets) {
    if (job.status !== "blocked" || gateState(job.gate) !== "met" || job.evaluation !== null) continue;
    if (job.step.definition.if !== null) askIf(decision, job);
    else decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "goto" });
  }
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  const yes: T[] = [];
  const no: T[] = [];
  for (const item of items) (test(item) ? yes : no).push(item);
  return [yes, no];
}
