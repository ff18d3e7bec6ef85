import type { Event, EventOf, ScopeItem } from "../model/events.js";
import { buildGate, gateState, isTainted, meetJoin, reducersWaiting } from "../model/gate.js";
import { stepNamed } from "../model/graph.js";
import { addJob, invalidate, rebuildGate, renewRouting } from "../model/jobs.js";
import { NO_BRANCH_GATES, newScope } from "../model/new-run.js";
import { type Job, jobById, type Run, type Scope } from "../model/run.js";

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
export function addBranch(reducer: Job, scope: Scope): void {
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
