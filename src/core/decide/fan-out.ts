import { gateState, reducersWaiting, waitingFor } from "../model/gate.js";
import type { GraphStep } from "../model/graph.js";
import { isSettled, type Job, type Run, type Scope, scopesUnder } from "../model/run.js";
import type { Decision } from "./decision.js";
import { giveUpLost, startAll } from "./start.js";

/** A forEach job has completed: open a scope for each item and start what can start in it. */
export function openScopesOf(decision: Decision, job: Job): void {
  if (!job.step.definition.forEach || decision.run.options.only !== null) return;
  decision.emit({ type: "scopes.opened", job: job.id, generation: job.visit, items: job.items ?? [] });
  const jobs: Job[] = [];
  for (const scope of job.scope.children.get(job.step) ?? []) {
    for (const inner of scope.open ? scopesUnder(scope) : []) jobs.push(...inner.jobs.values());
  }
  startAll(decision, jobs, "dependencies");
  decision.add(() => giveUpLost(decision, jobs));
  decision.add(() => decideJoinsOf(decision, job));
}

/** Decide the join of every reducer that one of these jobs' branches feeds, once its last branch has settled. */
export function decideJoins(decision: Decision, settled: readonly Job[]): void {
  const reducers = new Set<Job>();
  for (const job of settled) {
    for (const waiting of waitingFor(job)) if (waiting.branch !== null) reducers.add(waiting.job);
  }
  for (const reducer of reducers) decision.add(() => decideJoin(decision, reducer));
}

/** The fan-out of this forEach job has just been opened: reducers of no or only trivial branches are decided now. */
function decideJoinsOf(decision: Decision, opener: Job): void {
  for (const reducer of reducersWaiting(decision.run, opener))
    decision.add(() => decideJoin(decision, reducer));
}

/** Decide a reducer's join, unless a branch is still under way or it is decided already. */
export function decideJoin(decision: Decision, reducer: Job): void {
  const count = reducer.join;
  if (
    count === null ||
    reducer.barrier !== null ||
    isSettled(reducer.status) ||
    reducer.gate.groups.at(-1)!.met
  )
    return;
  if (count.met + count.lost < count.total) return;
  const satisfied = count.total === 0 || count.met >= needed(reducer.step, count.total);
  decision.emit({
    type: "join.decided",
    job: reducer.id,
    satisfied,
    completed: count.met,
    failed: count.failed,
    skipped: count.lost - count.failed,
    handled: satisfied && count.failed > 0 ? toleratedFailures(decision.run, reducer) : [],
  });
  // A transition has started it before its branches were over.
  if (reducer.status !== "blocked" || reducer.evaluation !== null) return;
  if (satisfied) return startAll(decision, [reducer], "dependencies");
  const message = `${count.met} of ${count.total} branches completed, ${needed(reducer.step, count.total)} needed`;
  if (count.failed > 0)
    decision.emit({ type: "jobs.canceled", jobs: [reducer.id], code: "JOIN_UNSATISFIED", reason: message });
  else decision.emit({ type: "jobs.skipped", jobs: [reducer.id], because: "join", reason: message });
  decision.add({ kind: "settled", jobs: [reducer] });
  if (count.failed > 0) decision.add({ kind: "fail_fast", job: reducer });
}

function needed(step: GraphStep, total: number): number {
  const join = step.definition.join;
  if (join.kind === "all") return total;
  return join.kind === "any" ? 1 : join.count;
}

/** The failed jobs of lost branches that the reducer would have needed. */
function toleratedFailures(run: Run, reducer: Job): number[] {
  const wanted = stepsBefore(reducer.step);
  const handled = new Set<number>();
  for (const scope of reducer.scope.children.get(reducer.step.closes!) ?? []) {
    const gate = scope.branchGates.get(reducer.step);
    if (!scope.open || gate === undefined || gateState(gate) !== "lost") continue;
    for (const inner of scopesUnder(scope)) {
      for (const job of inner.jobs.values()) {
        const counts = gate.forcedLost || wanted.has(job.step);
        if (run.failed.has(job) && job.handled === null && counts) addWithRoute(run, job, handled);
      }
    }
  }
  return [...handled];
}

/** Adds a failed job together with the failed jobs of the steps on its route. */
function addWithRoute(run: Run, job: Job, handled: Set<number>): void {
  if (handled.has(job.id)) return;
  handled.add(job.id);
  const next = job.route?.target;
  if (next !== undefined && run.failed.has(next) && next.handled === null) addWithRoute(run, next, handled);
}

/** A reducer's ancestors, found backwards. */
function stepsBefore(step: GraphStep): Set<GraphStep> {
  const seen = new Set<GraphStep>();
  const queue = [step];
  for (const at of queue) {
    for (const before of at.groups.flat()) {
      if (!seen.has(before)) {
        seen.add(before);
        queue.push(before);
      }
    }
  }
  return seen;
}

/** A branch was given up: the reducers it feeds may be decidable now. */
export function decideBranchesOf(decision: Decision, branch: Scope): void {
  for (const reducer of branch.branchGates.keys()) {
    const job = branch.parent?.jobs.get(reducer);
    if (job !== undefined) decision.add(() => decideJoin(decision, job));
  }
}
