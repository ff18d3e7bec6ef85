import type { Event } from "./events.js";
import { addBranch } from "./evolve-scopes.js";
import { dropWork, invalidate, leaveVisitEarly, rebuildGate } from "./jobs.js";
import { type Barrier, change, isSettled, type Job, jobById, type Run, type Scope } from "./run.js";

/** Nothing in a barrier starts any more: what was ready, waiting or climbing lets go; what runs is being ended. */
export function openBarrier(run: Run, event: Extract<Event, { type: "barrier.opened" }>): void {
  run.nextBarrier = Math.max(run.nextBarrier, event.barrier + 1);
  const barrier = run.barriers.get(event.barrier) ?? newBarrier(run, event.barrier);
  for (const id of event.merged) mergeBarrier(run, barrier, id);
  barrier.targets.add(jobById(run, event.target));
  const added = event.members.map((id) => jobById(run, id));
  for (const job of added) barrier.members.add(job);
  for (const job of added) {
    letGoOfList(run, barrier, job);
    change(run, job, () => {
      job.barrier = barrier;
      if (job.status === "running") barrier.endingAttempts.add(job);
      else if (job.status === "ready" || job.status === "waiting" || job.status === "recovering")
        job.status = "blocked";
      dropWork(job);
    });
    keepRequest(barrier, job);
  }
}

/** A visit that somebody outside asked for is put off until the barrier has closed. */
function keepRequest(barrier: Barrier, job: Job): void {
  if (job.visitFor !== null && !barrier.members.has(job.visitFor.by)) job.requests.unshift(job.visitFor);
  job.visitFor = null;
}

function newBarrier(run: Run, id: number): Barrier {
  const barrier: Barrier = { id, targets: new Set(), members: new Set(), endingAttempts: new Set() };
  run.barriers.set(id, barrier);
  return barrier;
}

/** A second goto into the same jobs widens the barrier that is there. */
function mergeBarrier(run: Run, barrier: Barrier, id: number): void {
  const other = run.barriers.get(id)!;
  for (const job of other.targets) barrier.targets.add(job);
  for (const job of other.members) {
    barrier.members.add(job);
    job.barrier = barrier;
  }
  for (const job of other.endingAttempts) barrier.endingAttempts.add(job);
  run.barriers.delete(id);
}

/** A run list of a member is over: the visit it is at ends, the ones it has asked for are withdrawn. */
function letGoOfList(run: Run, barrier: Barrier, job: Job): void {
  const target = job.list?.jobs[job.list.next];
  if (target === undefined) return;
  const asked = target.requests.findIndex((request) => request.by === job);
  if (asked >= 0) target.requests.splice(asked, 1);
  if (target.visitFor?.by !== job) return;
  if (target.status === "running") {
    barrier.endingAttempts.add(target);
    return;
  }
  letGoOfList(run, barrier, target);
  leaveVisitEarly(run, target);
}

/** The last attempt has ended: new visits for all, outputs gone, gates as the jobs outside make them. */
export function closeBarrier(run: Run, event: Extract<Event, { type: "barrier.closed" }>): void {
  const barrier = run.barriers.get(event.barrier)!;
  run.barriers.delete(event.barrier);
  for (const job of barrier.members) job.barrier = null;
  for (const id of event.retired) retire(run, jobById(run, id));
  const invalidated = event.invalidated.map((id) => jobById(run, id));
  for (const job of invalidated) {
    invalidate(run, job);
    closeScopes(run, job.scope.children.get(job.step) ?? []);
  }
  for (const job of invalidated) {
    rebuildGate(job);
    if (job.step.closes !== null) recountBranches(job);
  }
}

/** The job's item scope is gone with the old output of its forEach step. */
function retire(run: Run, job: Job): void {
  change(run, job, () => {
    dropWork(job);
    job.status = "skipped";
    job.settledAs = "lost";
    job.stopping = null;
    job.visitFor = null;
    job.requests.length = 0;
  });
}

/** Routed steps that were brought into the items are no members; they go with their scope. */
function closeScopes(run: Run, scopes: readonly Scope[]): void {
  for (const scope of scopes) {
    scope.open = false;
    for (const job of scope.jobs.values()) if (!isSettled(job.status)) retire(run, job);
    for (const children of scope.children.values()) closeScopes(run, children);
  }
}

/** A reducer whose own fan-out still stands counts its branches anew. */
function recountBranches(reducer: Job): void {
  const opener = reducer.scope.jobs.get(reducer.step.closes!);
  if (opener?.settledAs !== "met") return;
  const scopes = (reducer.scope.children.get(reducer.step.closes!) ?? []).filter((scope) => scope.open);
  reducer.join = { total: scopes.length, met: 0, lost: 0, failed: 0 };
  for (const scope of scopes) addBranch(reducer, scope);
}
