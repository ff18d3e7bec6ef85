import type { VisitRole } from "../model/events.js";
import { gateState, resolve } from "../model/gate.js";
import { type GraphStep, isAncestor } from "../model/graph.js";
import { findJob, isSettled, type Job, nextJobId } from "../model/run.js";
import { askIf, cascade } from "./cascade.js";
import type { Decision } from "./decision.js";
import { followUpListFinished } from "./follow-up.js";
import { remediationFinished } from "./ladder/remediate.js";

/** A step that a run list names: the job to enter, or why it cannot be entered. */
export type Target =
  | { readonly ok: true; readonly step: GraphStep; readonly job: Job | null }
  | { readonly ok: false; readonly reason: string };

/**
 * Find a run list's target in the scope of the job that routes to it. Not the step itself, nor one that depends on it
 * (it would wait for what waits for it); what the target depends on must be there.
 */
export function findTarget(source: Job, step: GraphStep): Target {
  const stepId = step.definition.id;
  if (step === source.step) return { ok: false, reason: `${stepId} is the step itself` };
  if (isAncestor(source.step, step))
    return { ok: false, reason: `${stepId} depends on ${source.step.definition.id}` };
  const job = source.scope.jobs.get(step) ?? null;
  if (job === null && !isFreelyRouted(step))
    return { ok: false, reason: `${stepId} is outside the scope ${source.scope.id}` };
  if (job !== null && gateState(job.gate) !== "met")
    return { ok: false, reason: `what ${stepId} depends on is not completed` };
  if (job !== null && awaits(job, source))
    return { ok: false, reason: `${stepId} itself waits for ${source.step.definition.id}` };
  return { ok: true, step, job };
}

/**
 * Whether `job` cannot go on before `other` has: through what is left of its run list, or through what it depends on.
 * Two jobs that repaired each other would otherwise wait for ever.
 */
function awaits(job: Job, other: Job): boolean {
  const seen = new Set([job]);
  for (const at of seen) {
    if (at === other) return true;
    for (const target of at.list?.jobs.slice(at.list.next) ?? []) seen.add(target);
    if (at.status === "blocked") for (const needed of dependenciesLeft(at)) seen.add(needed);
  }
  return false;
}

/** What a blocked job may still wait for; a reducer waits through its items, of which there may be none yet. */
function* dependenciesLeft(job: Job): Generator<Job> {
  const { groups, branchGroups, closes } = job.step;
  const steps = new Set(
    groups.filter((_, index) => branchGroups[index] === true || !job.gate.groups[index]!.met).flat(),
  );
  if (closes !== null) steps.add(closes);
  for (const step of steps) {
    const needed = resolve(step, job.scope);
    if (needed === null) for (const before of step.groups.flat()) steps.add(before);
    else if (needed.settledAs === null || needed.barrier !== null) yield needed;
  }
}

/** A routed step that depends on nothing belongs to every scope that routes to it. */
export function isFreelyRouted(step: GraphStep): boolean {
  return step.definition.start === "routed" && step.groups.length === 0;
}

/** The jobs of a list of targets, made where a scope is routed to for the first time. */
export function jobsOf(decision: Decision, source: Job, targets: readonly { step: GraphStep }[]): Job[] {
  const { run } = decision;
  return targets.map(({ step }) => {
    if (!source.scope.jobs.has(step)) {
      const id = nextJobId(run);
      decision.emit({ type: "job.created", job: id, step: step.definition.id, scope: source.scope.id });
    }
    return source.scope.jobs.get(step)!;
  });
}

/** Ask for a visit of the list's next target; requests to one job queue. */
export function requestNext(decision: Decision, source: Job): void {
  const list = source.list!;
  const target = list.jobs[list.next]!;
  // The list was good when it began; another list may have come to wait for this one since.
  if (awaits(target, source)) return finishList(decision, source, list.role, target.step.definition.id);
  decision.emit({ type: "visit.requested", job: target.id, by: source.id, role: list.role });
  enterNextVisit(decision, target);
}

/** A goto has made this job wait for its dependencies again, and one of them may wait for whoever asked for a visit. */
export function refuseCircularRequests(decision: Decision, job: Job): void {
  for (const { by, role } of [...job.requests]) {
    if (!awaits(job, by)) continue;
    decision.emit({ type: "visit.left", job: job.id, by: by.id, role, ok: false });
    finishList(decision, by, role, job.step.definition.id);
  }
}

/** Enter the next visit that was asked for, if nothing of the job is under way. */
export function enterNextVisit(decision: Decision, job: Job): void {
  const request = job.requests[0];
  if (request === undefined || !isIdle(job)) return;
  const visit = job.entered ? job.visit + 1 : job.visit;
  decision.emit({ type: "visit.entered", job: job.id, visit, by: request.by.id, role: request.role });
  if (gateState(job.gate) !== "met") {
    decision.emit({
      type: "jobs.canceled",
      jobs: [job.id],
      code: "DEPENDENCY_FAILED",
      reason: "what it depends on did not complete",
    });
    return cascade(decision, [job]);
  }
  if (job.step.definition.if !== null) return askIf(decision, job);
  decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "routed" });
}

function isIdle(job: Job): boolean {
  if (job.barrier !== null || job.visitFor !== null || job.followingUp || job.evaluation !== null)
    return false;
  if (isSettled(job.status)) return true;
  return job.status === "blocked" && job.step.definition.start === "routed" && gateState(job.gate) === "met";
}

/** If the job was visited for a run list, that list goes on, or ends. */
export function listTargetSettled(decision: Decision, target: Job): void {
  const request = target.visitFor;
  if (request === null || target.followingUp || !isSettled(target.status)) return;
  const ok =
    target.status === "completed" || target.handled === "continue_on_failure" || isSkippedByIf(target);
  decision.emit({ type: "visit.left", job: target.id, by: request.by.id, role: request.role, ok });
  const source = findJob(decision.run, request.by.id)!;
  const list = source.list;
  if (list === null) return;
  if (!ok) return finishList(decision, source, list.role, target.step.definition.id);
  if (list.next < list.jobs.length) return requestNext(decision, source);
  finishList(decision, source, list.role, null);
}

function isSkippedByIf(job: Job): boolean {
  return job.status === "skipped" && gateState(job.gate) === "met";
}

function finishList(decision: Decision, source: Job, role: VisitRole, failedStep: string | null): void {
  if (role === "remediation") return remediationFinished(decision, source, failedStep);
  followUpListFinished(decision, source, failedStep);
}
