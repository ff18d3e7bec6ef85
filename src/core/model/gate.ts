import type { GraphStep } from "./graph.js";
import { isHandledByRoute } from "./handled.js";
import type { Job, Run, Scope } from "./run.js";

/**
 * What a job still waits for: one group a `depends_on` entry. A group is met by its first member to complete and lost
 * when its last member settled without. Counters, so that a settled job costs only its own dependents.
 */
export interface Gate {
  readonly groups: readonly Group[];
  unmet: number;
  lostGroups: number;
  /** The number of lost groups with a failed or canceled member. */
  taintedGroups: number;
  /** The branch is given up whatever its groups say. */
  forcedLost: boolean;
}

export interface Group {
  open: number;
  met: boolean;
  tainted: boolean;
}

/** How the branches of a reducer stand. */
export interface JoinCount {
  total: number;
  met: number;
  lost: number;
  /** The lost groups in which something failed or was canceled. */
  failed: number;
}

export type GateState = "open" | "met" | "lost";

export function gateState(gate: Gate): GateState {
  if (gate.forcedLost || gate.lostGroups > 0) return "lost";
  return gate.unmet === 0 ? "met" : "open";
}

/** A lost gate cancels its job if a failure is behind it, else it skips it. */
export function isTainted(gate: Gate): boolean {
  return gate.forcedLost || gate.taintedGroups > 0;
}

/** The gate of a job that waits for nothing. */
export const OPEN_GATE: Gate = Object.freeze({
  groups: Object.freeze([]),
  unmet: 0,
  lostGroups: 0,
  taintedGroups: 0,
  forcedLost: false,
});

/** A job that waits for a settled one: in its own gate, or in that of a reducer's branch. */
export interface Waiting {
  readonly gate: Gate;
  readonly group: number;
  readonly job: Job;
  /** The branch, if the gate is a branch's. */
  readonly branch: Scope | null;
}

/** Every gate that waits for this job. */
export function* waitingFor(job: Job): Generator<Waiting> {
  // A routed step entered in an item's scope is nobody's dependency there: its dependents wait for the root's.
  if (job.scope.depth !== job.step.path.length) return;
  for (const { step, group } of job.step.dependents) {
    if (step.branchGroups[group] === true) yield* branchesWaiting(job, step, group);
    else yield* jobsWaiting(job, step, group);
  }
}

/** These jobs and what is blocked behind them, perhaps for other reasons as well. */
export function withDependentsStillWaiting(jobs: readonly Job[]): Set<Job> {
  const found = new Set(jobs);
  for (const job of jobs) {
    for (const waiting of waitingFor(job)) if (waiting.job.status === "blocked") found.add(waiting.job);
  }
  return found;
}

/** The reducers that close the fan-out of this forEach job. They wait for its items, not for itself. */
export function* reducersWaiting(run: Run, job: Job): Generator<Job> {
  for (const reducer of run.graph.reducersOf.get(job.step) ?? []) {
    const waiting = job.scope.jobs.get(reducer);
    if (waiting !== undefined) yield waiting;
  }
}

function* jobsWaiting(job: Job, step: GraphStep, group: number): Generator<Waiting> {
  for (const scope of scopesAtPath(job.scope, step.path)) {
    const dependent = scope.jobs.get(step);
    if (dependent !== undefined) yield { gate: dependent.gate, group, job: dependent, branch: null };
  }
}

function* branchesWaiting(job: Job, reducer: GraphStep, group: number): Generator<Waiting> {
  const branchPath = [...reducer.path, reducer.closes!];
  if (job.step.path.length > branchPath.length) return;
  for (const scope of scopesAtPath(job.scope, branchPath)) {
    const gate = scope.branchGates.get(reducer);
    const dependent = scope.parent?.jobs.get(reducer);
    if (gate !== undefined && dependent !== undefined) yield { gate, group, job: dependent, branch: scope };
  }
}

/** The open scopes at or under `scope` that lie at `path`. */
function* scopesAtPath(scope: Scope, path: readonly GraphStep[]): Generator<Scope> {
  if (scope.depth === path.length) {
    yield scope;
    return;
  }
  for (const child of scope.children.get(path[scope.depth]!) ?? []) {
    if (child.open) yield* scopesAtPath(child, path);
  }
}

/** Tell the gates that wait for this job what became of it. Counts each job once until `unsettle`. */
export function settleGates(run: Run, job: Job, as: "met" | "lost", tainted: boolean): void {
  for (const waiting of waitingFor(job)) {
    const before = gateState(waiting.gate);
    if (as === "lost" && takesAnyEnd(waiting.job.step)) recordAnyEnd(waiting.gate, waiting.group);
    else recordMember(waiting.gate, waiting.group, as, tainted);
    if (waiting.branch !== null) countBranch(run, waiting.job, before, waiting.gate);
  }
  if (as === "lost" && job.step.definition.forEach) {
    for (const reducer of reducersWaiting(run, job))
      recordMember(reducer.gate, joinGroup(reducer), "lost", tainted);
  }
}

/** A reducer's last group stands for its join; `join.decided` meets it. */
export function joinGroup(reducer: Job): number {
  return reducer.gate.groups.length - 1;
}

export function meetJoin(reducer: Job): void {
  recordMember(reducer.gate, joinGroup(reducer), "met", false);
}

function recordMember(gate: Gate, index: number, as: "met" | "lost", tainted: boolean): void {
  const group = gate.groups[index]!;
  group.open -= 1;
  if (group.met) return;
  if (as === "met") {
    group.met = true;
    gate.unmet -= 1;
    return;
  }
  group.tainted ||= tainted;
  if (group.open > 0) return;
  gate.lostGroups += 1;
  if (group.tainted) gate.taintedGroups += 1;
}

/** `needs: settled`: a dependency that will never complete is waited for no longer, and takes nothing with it. */
export function takesAnyEnd(step: GraphStep): boolean {
  return step.definition.needs === "settled";
}

function recordAnyEnd(gate: Gate, index: number): void {
  const isLast = gate.groups[index]!.open === 1;
  if (isLast) recordMember(gate, index, "met", false);
  else gate.groups[index]!.open -= 1;
}

/** Keep a reducer's count of branches in step with one branch's gate. */
export function countBranch(run: Run, reducer: Job, before: GateState, gate: Gate): void {
  const join = reducer.join;
  const after = gateState(gate);
  if (join === null || before === after) return;
  run.dirty.add(reducer);
  if (before === "met") join.met -= 1;
  if (after === "met") join.met += 1;
  else if (after === "lost") {
    join.lost += 1;
    if (isTainted(gate)) join.failed += 1;
  }
}

/** A gate as the present state of its members makes it. */
export function buildGate(step: GraphStep, scope: Scope, forBranch: boolean): Gate {
  if (step.groups.length === 0 && step.closes === null) return OPEN_GATE;
  // Made with its length: a list that is pushed to has room for 17, in each of perhaps 100,000 jobs.
  const groups = step.groups.map((): Group => ({ open: 0, met: false, tainted: false }));
  const forcedLost = forBranch && scope.abandoned;
  const gate: Gate = { groups, unmet: 0, lostGroups: 0, taintedGroups: 0, forcedLost };
  step.groups.forEach((members, index) => {
    const mine = forBranch === (step.branchGroups[index] ?? false);
    const group = groups[index]!;
    group.met = !mine;
    if (!mine) return;
    for (const member of members) {
      const job = resolve(member, scope);
      // A job behind a barrier is about to be invalidated: what it was no longer counts.
      if (job === null || job.settledAs === null || job.barrier !== null) group.open += 1;
      else if (job.settledAs === "met") group.met = true;
      else group.tainted ||= isTainting(job);
    }
    if (group.open === 0 && takesAnyEnd(step)) group.met = true;
    if (group.met) return;
    gate.unmet += 1;
    if (group.open > 0) return;
    gate.lostGroups += 1;
    if (group.tainted) gate.taintedGroups += 1;
  });
  if (!forBranch && step.closes !== null) groups.push(joinGroupOf(gate, scope.jobs.get(step.closes)));
  return gate;
}

/** Cancels its dependents, where a handled failure or a skip only skips them. */
function isTainting(job: Job): boolean {
  return job.status === "canceled" || (job.status === "failed" && !isHandledByRoute(job));
}

/** A reducer's last group: lost with its forEach job, else open until the join is decided. */
function joinGroupOf(gate: Gate, opener: Job | undefined): Group {
  const lost = opener?.settledAs === "lost";
  const tainted = lost && isTainting(opener);
  gate.unmet += 1;
  if (lost) gate.lostGroups += 1;
  if (tainted) gate.taintedGroups += 1;
  return { open: lost ? 0 : 1, met: false, tainted };
}

/** The handled failure for which a job is skipped: that of a dependency, or the one for which a dependency was skipped. */
export function failureBehind({ step, scope }: Job): Job | null {
  for (const job of dependenciesOf(step, scope)) {
    if (job.settledAs !== "lost") continue;
    if (job.status === "failed") return job;
    if (job.status === "skipped" && job.skippedBy !== null) return job.skippedBy;
  }
  return null;
}

/** The jobs whose end this step waits for in the scope; for a reducer those of all its branches. */
function* dependenciesOf(step: GraphStep, scope: Scope): Generator<Job> {
  const branches = step.closes === null ? [] : (scope.children.get(step.closes) ?? []);
  for (const [index, members] of step.groups.entries()) {
    const scopes = step.branchGroups[index] === true ? branches.filter(({ open }) => open) : [scope];
    for (const member of members) {
      for (const at of scopes) {
        const job = resolve(member, at);
        if (job !== null) yield job;
      }
    }
  }
  const opener = step.closes === null ? undefined : scope.jobs.get(step.closes);
  if (opener !== undefined) yield opener;
}

/** The job that a name means in a scope: the step's instance in the nearest enclosing scope. */
export function resolve(step: GraphStep, scope: Scope): Job | null {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const job = at.jobs.get(step);
    if (job !== undefined) return job;
  }
  return null;
}
