import type { ReusedJob } from "../model/events.js";
import { isCalled } from "../model/flow.js";
import { gateState, isTainted } from "../model/gate.js";
import { type Job, type Run, reuseKey } from "../model/run.js";
import { ask } from "./ask.js";
import type { Decision } from "./decision.js";
import { enterNextVisit, mayEnterVisit } from "./run-lists.js";

/** Whether the job may start by itself: its gate has opened, and it is not a routed step that nobody asked for. */
export function canStart(job: Job): boolean {
  return (
    job.status === "blocked" &&
    job.barrier === null &&
    job.evaluation === null &&
    (job.call === null || isCalled(job)) &&
    (job.program?.awaits ?? null) === null &&
    gateState(job.gate) === "met" &&
    job.step.definition.start === "auto"
  );
}

type StartReason = "start" | "dependencies" | "goto" | "routed" | "operator";

/** Make jobs ready, after their `if` where they have one. */
export function startAll(decision: Decision, jobs: readonly Job[], reason: StartReason): void {
  startFrom(decision, jobs, reason, 0, []);
}

/** Starts jobs from `index` on. `ready` contains those before it that only need to become ready. */
function startFrom(
  decision: Decision,
  jobs: readonly Job[],
  reason: StartReason,
  index: number,
  ready: number[],
): void {
  for (let at = index; at < jobs.length; at += 1) {
    const job = jobs[at]!;
    // What follows from the job's old output comes before the jobs after it.
    if (reuse(decision, job)) return decision.add(() => startFrom(decision, jobs, reason, at + 1, ready));
    if (!canStart(job)) continue;
    if (job.step.definition.if === null) ready.push(job.id);
    else ask(decision, job, "if");
  }
  if (ready.length > 0) decision.emit({ type: "jobs.ready", jobs: ready, reason });
  // A visit that was put off while a goto made the job's dependencies run again.
  decision.add(() => enterVisits(decision, jobs, 0));
}

function enterVisits(decision: Decision, jobs: readonly Job[], index: number): void {
  for (let at = index; at < jobs.length; at += 1) {
    if (!mayEnterVisit(jobs[at]!)) continue;
    enterNextVisit(decision, jobs[at]!);
    return decision.add(() => enterVisits(decision, jobs, at + 1));
  }
}

/**
 * Continues after a job was stopped on purpose and the reason for it is over: its dependents are told, or it begins
 * again.
 */
export function goOnAfterStop(decision: Decision, job: Job): void {
  if (job.status === "canceled") return decision.add({ kind: "settled", jobs: [job] });
  enterNextVisit(decision, job);
  decision.add(() => startAll(decision, [job], "goto"));
}

/** A forked run does not do again what it takes over. Nobody will lead to a routed step again: it waits for nothing. */
export function reuse(decision: Decision, job: Job): boolean {
  const { reuse: taken } = decision.run;
  if (taken.size === 0 || job.entered || job.visit > 1) return false;
  if (!canStart(job) && !waitsToBeRouted(job)) return false;
  const reused = taken.get(reuseKey(job.scope.id, job.step.definition.id));
  if (reused === undefined) return false;
  const { output, items, user_data: userData, origin, stood_in: stoodIn, decided, below } = reused;
  const by = stoodIn === undefined ? null : jobNamed(decision.run, stoodIn);
  if (stoodIn !== undefined && by === null) return false;
  decision.emit({
    type: "job.reused",
    job: job.id,
    output,
    items,
    ...(userData === undefined ? {} : { user_data: userData }),
    origin,
    ...(stoodIn === undefined || by === null ? {} : { stood_in: { by: by.id, failure: stoodIn.failure } }),
    ...(decided === undefined ? {} : { decided }),
    ...(below === undefined ? {} : { below }),
  });
  decision.add({ kind: "fan_out", job });
  decision.add({ kind: "settled", jobs: [job] });
  return true;
}

function jobNamed({ scopes, graph }: Run, { scope, step }: NonNullable<ReusedJob["stood_in"]>): Job | null {
  const named = graph.byId.get(step);
  return (named && scopes.get(scope)?.jobs.get(named)) ?? null;
}

function waitsToBeRouted({ status, barrier, step }: Job): boolean {
  return status === "blocked" && barrier === null && step.definition.start === "routed";
}

/** Gives up jobs that were just created or reset, and that wait for something already lost. */
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
  if (skipped.length > 0)
    decision.emit({
      type: "jobs.skipped",
      jobs: skipped.map((job) => job.id),
      because: "dependency",
      reason,
    });
  if (lost.length > 0) decision.add({ kind: "settled", jobs: lost });
}
