import { gateState } from "../model/gate.js";
import { findJob, isSettled, type Job } from "../model/run.js";
import { readyAfterIf } from "./ask.js";
import type { Decision } from "./decision.js";
import { awaits } from "./targets.js";

/** Ask for a visit of the list's next target; requests to one job queue. */
export function requestNext(decision: Decision, source: Job): void {
  const list = source.list!;
  const target = list.jobs[list.next]!;
  // The list was good when it began; another list may have come to wait for this one since.
  if (awaits(target, source)) return finishList(decision, source, target);
  decision.emit({ type: "visit.requested", job: target.id, by: source.id, role: list.role });
  enterNextVisit(decision, target);
}

/**
 * Refuses visits that would wait for each other: a goto has made this job wait for its dependencies again, and one of
 * them may wait for the requester of a visit.
 */
export function refuseCircularRequests(decision: Decision, job: Job): void {
  for (const { by, role } of job.requests) {
    decision.add(() => {
      if (!awaits(job, by)) return;
      decision.emit({ type: "visit.left", job: job.id, by: by.id, role, ok: false });
      decision.add({ kind: "list_over", job: by, role, failedStep: job.step.definition.id });
    });
  }
}

/** Enter the next visit that was asked for, if it may be entered now. */
export function enterNextVisit(decision: Decision, job: Job): void {
  if (!mayEnterVisit(job)) return;
  const request = job.requests[0]!;
  const visit = job.entered ? job.visit + 1 : job.visit;
  decision.emit({ type: "visit.entered", job: job.id, visit, by: request.by.id, role: request.role });
  if (gateState(job.gate) !== "met") {
    decision.emit({
      type: "jobs.canceled",
      jobs: [job.id],
      code: "DEPENDENCY_FAILED",
      reason: "a step it depends on did not complete",
    });
    return decision.add({ kind: "settled", jobs: [job] });
  }
  readyAfterIf(decision, job, "routed");
}

/** Somebody has asked for a visit, and nothing of the job is under way. */
export function mayEnterVisit(job: Job): boolean {
  if (job.requests.length === 0) return false;
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
  if (!ok) return finishList(decision, source, target);
  if (list.next < list.jobs.length) return requestNext(decision, source);
  finishList(decision, source, null);
}

function isSkippedByIf(job: Job): boolean {
  return job.status === "skipped" && gateState(job.gate) === "met";
}

/** All steps of the list have completed, or one has not. */
function finishList(decision: Decision, source: Job, failed: Job | null): void {
  const { role } = source.list!;
  decision.add({ kind: "list_over", job: source, role, failedStep: failed?.step.definition.id ?? null });
}
