import type { Barrier } from "../model/barrier.js";
import type { Event, EventOf, ScopeItem } from "../model/events.js";
import { buildGate, gateState, isTainted, meetJoin, reducersWaiting } from "../model/gate.js";
import { stepNamed } from "../model/graph.js";
import {
  addJob,
  carryRouteOn,
  dropRequest,
  dropRequests,
  dropWork,
  invalidate,
  leaveVisitEarly,
  rebuildGate,
  renewRouting,
} from "../model/jobs.js";
import { type LedBy, ledBy, ledByNow } from "../model/led-by.js";
import { NO_BRANCH_GATES, newBarrier, newScope } from "../model/make-run.js";
import { change, isInRecovery, isSettled, type Job, jobById, type Run, type Scope } from "../model/run.js";
import { leftInVisit } from "./earlier-files.js";
import { takeBackCall } from "./evolve-flow.js";
import { goBackInTree, keepTreeFor, noteRound, takeBackLeftover } from "./evolve-tree.js";

/** Nothing in a barrier starts any more: what was ready, waiting or climbing lets go; what runs is being ended. */
export function openBarrier(run: Run, event: Extract<Event, { type: "barrier.opened" }>): void {
  run.nextBarrier = Math.max(run.nextBarrier, event.barrier + 1);
  const barrier = run.barriers.get(event.barrier) ?? addBarrier(run, event.barrier);
  // What was restored for fewer members must be done again for all of them.
  barrier.rebuild = null;
  barrier.restored = null;
  barrier.files = event.files ?? "keep";
  for (const id of event.merged) mergeBarrier(run, barrier, id);
  const target = jobById(run, event.target);
  const byOperator = event.forced && event.edge === null;
  barrier.targets.set(target, {
    forced: event.forced,
    ledBy: byOperator ? ledByNow(run, target) : failureOf(run, target, event),
    byFailure: event.from !== null,
    byOperator,
    ownFailure: byOperator ? target.ownFailure : null,
    hint: byOperator ? target.hint : null,
  });
  const added = event.members.map((id) => jobById(run, id));
  for (const job of added) barrier.members.add(job);
  for (const job of added) {
    letGoOfList(run, barrier, job);
    change(run, job, () => {
      job.barrier = barrier;
      const recovery = isInRecovery(job) ? job.recovery : null;
      const inAttempt = job.status === "running" || job.question !== null;
      if (inAttempt || recovery !== null) barrier.endingAttempts.add(job);
      if (!inAttempt && !isSettled(job.status)) job.status = "blocked";
      dropWork(job);
      // Its script is being ended; the barrier waits for that as it does for an attempt.
      job.recovery = recovery;
    });
    keepRequest(barrier, job);
  }
  if (run.definition.workspace === null) return;
  takeBackLeftover(run, barrier);
  keepTreeFor(run, barrier);
}

/** A visit that somebody outside asked for is put off until the barrier has closed. */
function keepRequest(barrier: Barrier, job: Job): void {
  if (job.visitFor !== null && !barrier.members.has(job.visitFor.by))
    job.requests = [job.visitFor, ...job.requests];
  job.visitFor = null;
}

/** The failure that an edge or a goto brings along, copied before the barrier may wipe it out. */
function failureOf(
  run: Run,
  target: Job,
  { from, edge }: Extract<Event, { type: "barrier.opened" }>,
): LedBy | null {
  if (from === null) return null;
  return ledBy(run, target, jobById(run, from), { route: edge === null ? "goto" : "edge", edge });
}

function addBarrier(run: Run, id: number): Barrier {
  const barrier = newBarrier(id);
  run.barriers.set(id, barrier);
  return barrier;
}

/** A second goto into the same jobs widens the barrier that is there. */
function mergeBarrier(run: Run, barrier: Barrier, id: number): void {
  const other = run.barriers.get(id)!;
  for (const [job, how] of other.targets) barrier.targets.set(job, how);
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
  dropRequest(target, job);
  if (target.visitFor?.by !== job) return;
  if (target.status === "running" || target.question !== null || isInRecovery(target)) {
    barrier.endingAttempts.add(target);
    return;
  }
  letGoOfList(run, barrier, target);
  // It has just settled, and is what opened the barrier: its visit is over, not given up.
  if (isSettled(target.status) && !target.followingUp) target.visitFor = null;
  else leaveVisitEarly(run, target);
}

/** The last attempt has ended: new visits for all, outputs gone, gates as the jobs outside make them. */
export function closeBarrier(run: Run, event: Extract<Event, { type: "barrier.closed" }>): void {
  const barrier = run.barriers.get(event.barrier)!;
  run.barriers.delete(event.barrier);
  for (const job of barrier.members) job.barrier = null;
  const cut = new Set(event.cut);
  const cutOff = run.workspace.checkpoints.filter(({ ordinal }) => cut.has(ordinal));
  for (const checkpoint of cutOff) checkpoint.superseded = true;
  for (const id of event.retired) retire(run, jobById(run, id));
  const invalidated = event.invalidated.map((id) => jobById(run, id));
  const byOperator = [...barrier.targets.values()].some((how) => how.byOperator);
  const left = new Map([...barrier.targets.keys()].map((job) => [job, leftInVisit(run, job)]));
  for (const job of invalidated) {
    const { visit } = job;
    invalidate(run, job);
    if (!barrier.targets.has(job)) takeBackCall(job);
    // An operator who goes back here asks for more than an earlier retry allowed.
    if (byOperator) job.allowed = null;
    if (barrier.targets.get(job)?.byOperator === true) carryRouteOn(job, visit);
    closeScopes(job.scope.children.get(job.step) ?? []);
  }
  for (const [job, how] of barrier.targets) {
    job.ledBy = how.ledBy;
    job.ownFailure = how.ownFailure;
    job.hint = how.hint;
  }
  if (run.definition.workspace !== null) goBackInTree(run, barrier, cutOff, left);
  for (const [job, how] of barrier.targets) if (how.byOperator) job.scope.abandoned = false;
  for (const job of invalidated) rebuild(job);
}

/** The job's item scope is gone with the old output of its forEach step. */
function retire(run: Run, job: Job): void {
  change(run, job, () => {
    dropWork(job);
    job.status = "skipped";
    job.settledAs = "lost";
    // Nothing of it is part of how the run ends.
    job.skippedBy = null;
    job.decided = null;
    job.below = null;
    job.stopping = null;
    job.visitFor = null;
    dropRequests(job);
    takeBackCall(job);
  });
}

function closeScopes(scopes: readonly Scope[]): void {
  for (const scope of scopes) {
    scope.open = false;
    for (const children of scope.children.values()) closeScopes(children);
  }
}

/** The gate as its members make it now; a reducer's count of branches too. */
export function rebuild(job: Job): void {
  rebuildGate(job);
  if (job.step.closes !== null) recountBranches(job);
}

/** Counts the branches of a reducer again whose own fan-out is still open. */
function recountBranches(reducer: Job): void {
  const opener = reducer.scope.jobs.get(reducer.step.closes!);
  if (opener?.settledAs !== "met") return;
  const scopes = (reducer.scope.children.get(reducer.step.closes!) ?? []).filter((scope) => scope.open);
  reducer.join = { total: scopes.length, met: 0, lost: 0, failed: 0 };
  for (const scope of scopes) addBranch(reducer, scope);
}

export function takeGoto(run: Run, event: EventOf<"goto.taken">): void {
  const job = jobById(run, event.job);
  if (event.trigger === "failure") noteRound(run, job, [event.target]);
  job.scope.loops += 1;
  job.gotos = { ...job.gotos, [event.trigger]: job.gotos[event.trigger] + 1 };
}

/**
 * A forEach job has completed: one scope an item, with a job for each step inside. A later visit of the forEach job
 * uses the same scopes and jobs again, with fresh budgets; scopes beyond the new length stay closed.
 */
export function openScopes(run: Run, opener: Job, generation: number, items: readonly ScopeItem[]): void {
  const scopes = [...(opener.scope.children.get(opener.step) ?? [])];
  items.forEach((item, index) => {
    let scope = scopes[index];
    if (scope === undefined) {
      scope = addScope(run, opener, index);
      scopes.push(scope);
    } else if (scope.open && scope.generation === generation && opener.call !== null) {
      // The program has found more items than at first: these go on.
      scope.item = { ...scope.item!, total: items.length };
      return;
    }
    reopen(run, scope, generation, {
      key: item.key,
      name: item.name ?? item.key,
      index,
      total: items.length,
    });
  });
  if (opener.call !== null) opener.items = items;
  opener.scope.children = new Map(opener.scope.children).set(opener.step, scopes);
  for (const reducer of reducersWaiting(run, opener)) {
    reducer.join = { total: items.length, met: 0, lost: 0, failed: 0 };
    for (const scope of scopes) if (scope.open) addBranch(reducer, scope);
  }
}

function addScope(run: Run, opener: Job, index: number): Scope {
  const id = `${opener.scope.id}/${opener.step.definition.id}[${index}]`;
  const scope = newScope(id, opener.scope, opener);
  run.scopes.set(scope.id, scope);
  return scope;
}

function reopen(run: Run, scope: Scope, generation: number, item: NonNullable<Scope["item"]>): void {
  scope.item = item;
  scope.open = true;
  scope.generation = generation;
  scope.abandoned = false;
  scope.loops = 0;
  scope.lastError = null;
  scope.branchGates = NO_BRANCH_GATES;
  for (const step of run.graph.inItemsOf.get(scope.opener!.step) ?? [])
    if (!scope.jobs.has(step)) addJob(run, step, scope);
  for (const job of scope.jobs.values()) {
    if (job.visit > 1 || job.entered || job.status !== "blocked") invalidate(run, job);
    renewRouting(job);
  }
  for (const job of scope.jobs.values()) rebuildGate(job);
}

/** Count a branch of a reducer as its gate stands now. */
function addBranch(reducer: Job, scope: Scope): void {
  const gate = buildGate(reducer.step, scope, true);
  scope.branchGates = new Map(scope.branchGates).set(reducer.step, gate);
  const state = gateState(gate);
  const join = reducer.join!;
  if (state === "met") join.met += 1;
  else if (state === "lost") {
    join.lost += 1;
    if (isTainted(gate)) join.failed += 1;
  }
}

export function decideJoin(run: Run, event: Extract<Event, { type: "join.decided" }>): void {
  const reducer = jobById(run, event.job);
  if (event.satisfied) meetJoin(reducer);
  for (const id of event.handled) jobById(run, id).handled = "join";
  for (const id of event.handled) run.dirty.add(jobById(run, id));
}

export function createJob(run: Run, event: EventOf<"job.created">): void {
  const scope = run.scopes.get(event.scope)!;
  rebuildGate(addJob(run, stepNamed(run.graph, scope.opener?.step ?? null, event.step)!, scope));
}
