import {
  type Gate,
  type Group,
  gateState,
  isTainted,
  reducersWaiting,
  takesAnyEnd,
  waitingFor,
} from "../model/gate.js";
import type { Job } from "../model/run.js";
import type { Consequence, Decision } from "./decision.js";
import { decideJoins, openScopesOf } from "./fan-out.js";
import { followUpListFinished } from "./follow-up.js";
import { closeBarriersThatAreDone } from "./goto.js";
import { failFast } from "./ladder/fail.js";
import { remediationFinished } from "./ladder/remediate.js";
import { enterNextVisit, listTargetSettled } from "./run-lists.js";
import { endRoutesTo } from "./stand-in.js";
import { startAll } from "./start.js";

/** Look at everything that follows from what has happened so far, until nothing is left. */
export function drain(decision: Decision): void {
  for (let item = decision.take(); item !== undefined; item = decision.take()) {
    if (typeof item === "function") item();
    else lookAt(decision, item);
  }
}

/** Put this on an empty agenda and look at all that follows from it. */
export function follow(decision: Decision, item: Consequence): void {
  decision.add(item);
  drain(decision);
}

function lookAt(decision: Decision, item: Consequence): void {
  switch (item.kind) {
    case "settled":
      return cascade(decision, item.jobs);
    case "visit_over":
      return endRoutesTo(decision, item.job);
    case "fan_out":
      return openScopesOf(decision, item.job);
    case "list_over":
      return item.role === "remediation"
        ? remediationFinished(decision, item.job, item.failedStep)
        : followUpListFinished(decision, item.job, item.failedStep);
    case "fail_fast":
      return failFast(decision, item.job);
    case "barriers":
      return closeBarriersThatAreDone(decision);
  }
}

/**
 * A job has settled: start what was waiting for it, give up what can no longer start. The whole cascade is one event
 * with a list of ids for each outcome, however long the chain.
 */
function cascade(decision: Decision, settled: readonly Job[]): void {
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
      because: "dependency",
      reason: "a step it depends on was skipped",
    });
  }
  const affected = [...settled, ...canceled, ...skipped];
  startMet(decision, affected);
  decision.add(() => decideJoins(decision, affected));
  for (const job of affected) {
    if (job.routedHere.size > 0) decision.add({ kind: "visit_over", job });
    decision.add(() => listTargetSettled(decision, job));
    decision.add(() => enterNextVisit(decision, job));
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
        dependent.visitFor !== null ||
        takesAnyEnd(dependent.step)
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
