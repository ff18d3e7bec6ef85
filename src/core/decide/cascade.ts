import { type Gate, type Group, gateState, isTainted, reducersWaiting, waitingFor } from "../model/gate.js";
import type { Job } from "../model/run.js";
import type { Decision } from "./decision.js";
import { openScopesOf } from "./fan-out-opening.js";
import { decideJoins } from "./join.js";
import { enterNextVisit, listTargetSettled } from "./run-lists.js";

/**
 * A job has settled: start what was waiting for it, give up what can no longer start. The whole cascade is one event
 * with a list of ids for each outcome, however long the chain.
 */
export function cascade(decision: Decision, settled: readonly Job[]): void {
  const { canceled, skipped } = findLost(decision, settled);
  if (canceled.length > 0) {
    decision.emit({
      type: "jobs.canceled",
      jobs: canceled.map((job) => job.id),
      code: "DEPENDENCY_FAILED",
      reason: reasonOf(settled),
    });
  }
  if (skipped.length > 0) {
    decision.emit({
      type: "jobs.skipped",
      jobs: skipped.map((job) => job.id),
      reason: "a step it depends on was skipped",
    });
  }
  const affected = [...settled, ...canceled, ...skipped];
  startMet(decision, affected);
  decideJoins(decision, affected);
  for (const job of affected) {
    listTargetSettled(decision, job);
    enterNextVisit(decision, job);
  }
}

function reasonOf(settled: readonly Job[]): string {
  const cause = settled.find((job) => job.status === "failed" || job.status === "canceled");
  return cause === undefined
    ? "a step it depends on was canceled"
    : `${cause.step.definition.id} ${cause.status}`;
}

/** Start every dependent whose gate has just opened. */
function startMet(decision: Decision, settled: readonly Job[]): void {
  const seen = new Set<Job>();
  for (const job of settled) {
    for (const waiting of waitingFor(job)) if (waiting.branch === null) seen.add(waiting.job);
  }
  startAll(decision, [...seen], "dependencies");
}

/** Whether the job may start by itself: its gate has opened, and it is not a routed step that nobody asked for. */
export function canStart(job: Job): boolean {
  return (
    job.status === "blocked" &&
    job.barrier === null &&
    job.evaluation === null &&
    gateState(job.gate) === "met" &&
    job.step.definition.start === "auto"
  );
}

/** Make jobs ready, after their `if` where they have one. */
export function startAll(
  decision: Decision,
  jobs: readonly Job[],
  reason: "start" | "dependencies" | "goto" | "routed" | "operator",
): void {
  const ready: number[] = [];
  for (const job of jobs) {
    if (!canStart(job)) continue;
    if (reuse(decision, job)) continue;
    if (job.step.definition.if === null) ready.push(job.id);
    else askIf(decision, job);
  }
  if (ready.length > 0) decision.emit({ type: "jobs.ready", jobs: ready, reason });
  // A visit that was put off while a goto made the job's dependencies run again.
  for (const job of jobs) enterNextVisit(decision, job);
}

/** A forked run does not do again what came before its fork. */
function reuse(decision: Decision, job: Job): boolean {
  const { run } = decision;
  const key = `${job.scope.id} ${job.step.definition.id}`;
  const reused = job.entered || job.visit > 1 ? undefined : run.reuse.get(key);
  if (reused === undefined) return false;
  decision.emit({ type: "job.reused", job: job.id, output: reused.output, items: reused.items });
  openScopesOf(decision, job);
  cascade(decision, [job]);
  return true;
}

/** What was routed to before the fork: nobody will route to it again. */
export function reuseRouted(decision: Decision): void {
  const { reuse: reused, root, jobs } = decision.run;
  if (reused.size === 0) return;
  for (const job of [...jobs]) {
    if (job.scope === root && job.step.definition.start === "routed" && job.status === "blocked")
      reuse(decision, job);
  }
}

export function askIf(decision: Decision, job: Job): void {
  decision.emit({
    type: "evaluation.requested",
    id: decision.run.nextEvaluation,
    job: job.id,
    purpose: "if",
    considered: [],
    code: null,
  });
}

/** Jobs that have just been made or made anew, and that wait for something which was lost before. */
export function giveUpLost(decision: Decision, jobs: readonly Job[]): void {
  const lost = jobs.filter(
    (job) => job.status === "blocked" && job.barrier === null && gateState(job.gate) === "lost",
  );
  const canceled = lost.filter((job) => isTainted(job.gate));
  const skipped = lost.filter((job) => !isTainted(job.gate));
  const reason = "a step it depends on did not complete";
  if (canceled.length > 0)
    decision.emit({
      type: "jobs.canceled",
      jobs: canceled.map((job) => job.id),
      code: "DEPENDENCY_FAILED",
      reason,
    });
  if (skipped.length > 0) decision.emit({ type: "jobs.skipped", jobs: skipped.map((job) => job.id), reason });
  if (lost.length > 0) cascade(decision, lost);
}

interface Lost {
  readonly canceled: Job[];
  readonly skipped: Job[];
}

/** Every job that these losses make impossible, found on a shadow of the gates' counters. */
function findLost(decision: Decision, settled: readonly Job[]): Lost {
  const lost: Lost = { canceled: [], skipped: [] };
  const shadow = new Map<Group, { open: number; tainted: boolean }>();
  const found = new Set<Job>();
  const queue: { job: Job; tainted: boolean; counted: boolean }[] = settled
    .filter((job) => job.settledAs === "lost")
    .map((job) => ({ job, tainted: job.status !== "skipped", counted: true }));
  for (const { job, tainted, counted } of queue) {
    const give = (dependent: Job, gate: Gate, group: Group | null): void => {
      if (
        found.has(dependent) ||
        dependent.status !== "blocked" ||
        dependent.barrier !== null ||
        dependent.visitFor !== null
      )
        return;
      const verdict = counted ? lostByNow(gate) : lostByShadow(shadow, group!, tainted);
      if (verdict === null) return;
      found.add(dependent);
      (verdict.tainted ? lost.canceled : lost.skipped).push(dependent);
      queue.push({ job: dependent, tainted: verdict.tainted, counted: false });
    };
    for (const waiting of waitingFor(job)) {
      if (waiting.branch === null) give(waiting.job, waiting.gate, waiting.gate.groups[waiting.group]!);
    }
    if (job.step.definition.forEach) {
      for (const reducer of reducersWaiting(decision.run, job))
        give(reducer, reducer.gate, reducer.gate.groups.at(-1)!);
    }
  }
  return lost;
}

function lostByNow(gate: Gate): { tainted: boolean } | null {
  return gateState(gate) === "lost" ? { tainted: isTainted(gate) } : null;
}

function lostByShadow(
  shadow: Map<Group, { open: number; tainted: boolean }>,
  group: Group,
  tainted: boolean,
): { tainted: boolean } | null {
  const count = shadow.get(group) ?? { open: group.open, tainted: group.tainted };
  count.open -= 1;
  count.tainted ||= tainted;
  shadow.set(group, count);
  return !group.met && count.open === 0 ? { tainted: count.tainted } : null;
}
