import { abandonScope } from "./abandon.js";
import { askIf, cascade, giveUpLost, startAll } from "./cascade.js";
import type { HoldDecision, OperatorCommand } from "./commands.js";
import type { Decision } from "./decision.js";
import type { ErrorCode } from "./errors.js";
import { openScopesOf } from "./fan-out-opening.js";
import { followUp } from "./follow-up.js";
import { gateState, reducersWaiting, waitingFor, withDependentsStillWaiting } from "./gate.js";
import { openBarrierOver } from "./goto.js";
import { isHandled } from "./handled.js";
import { decideJoin } from "./join.js";
import { failJob } from "./ladder/fail.js";
import { startReservedRecoveries } from "./recovery.js";
import { findJob, isOver, type Job, jobById, type Run } from "./run.js";

/** Why an operator's command cannot be taken now. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Null: the command applies. A key that was taken before never applies again, and is no refusal either. */
export function refusalOf(run: Run, command: OperatorCommand): Refusal | null {
  if (command.key !== null && run.operatorKeys.has(command.key)) return null;
  switch (command.type) {
    case "run.cancel":
      return isOver(run) ? over(run) : null;
    case "run.pause":
      if (isOver(run)) return over(run);
      return run.cancelRequested === null ? null : refuse("RUN_OVER", "the run is being canceled");
    case "run.unpause":
      return run.paused === null ? refuse("NOT_PAUSED", `run ${run.id} is ${run.status}`) : null;
    case "step.retry":
      return refuseRetry(run, command.job);
    case "step.resume_from":
      return refuseResumeFrom(run, command.job);
    case "run.reset":
      return run.cancelRequested !== null && !isOver(run)
        ? refuse("RUN_OVER", "the run is being canceled")
        : null;
    case "holds.resolve":
      return refuseHolds(run, command.items);
    case "human.answer":
      return refuseAnswer(run, command.job, command.choice);
  }
}

function refuse(code: ErrorCode, message: string): Refusal {
  return { code, message };
}

function over(run: Run): Refusal {
  return refuse("RUN_OVER", `run ${run.id} is ${run.status}`);
}

function refuseRetry(run: Run, id: number): Refusal | null {
  const job = findJob(run, id);
  if (job === null) return refuse("STEP_NOT_FOUND", `run ${run.id} has no job ${id}`);
  if (run.cancelRequested !== null && !isOver(run)) return refuse("RUN_OVER", "the run is being canceled");
  const step = job.step.definition.id;
  if (job.status === "completed") return refuse("STEP_COMPLETED", `${step} is completed`);
  if (!["failed", "canceled", "pending_failed"].includes(job.status))
    return refuse("NOT_RETRYABLE", `${step} is ${job.status}`);
  if (job.barrier !== null) return refuse("NOT_RETRYABLE", `${step} is about to begin anew`);
  if (!job.scope.open) return refuse("NOT_RETRYABLE", `the scope ${job.scope.id} is gone`);
  if (job.status === "canceled" && gateState(job.gate) === "lost")
    return refuse("DEPENDENCY_FAILED", `what ${step} depends on did not complete`);
  return null;
}

function refuseResumeFrom(run: Run, id: number): Refusal | null {
  const job = findJob(run, id);
  if (job === null) return refuse("STEP_NOT_FOUND", `run ${run.id} has no job ${id}`);
  if (run.cancelRequested !== null && !isOver(run)) return refuse("RUN_OVER", "the run is being canceled");
  if (!job.scope.open) return refuse("NOT_RETRYABLE", `the scope ${job.scope.id} is gone`);
  if (gateState(job.gate) !== "met" && job.step.groups.length > 0)
    return refuse("DEPENDENCY_FAILED", `what ${job.step.definition.id} depends on is not completed`);
  return null;
}

function refuseHolds(run: Run, items: readonly HoldDecision[]): Refusal | null {
  for (const { job: id, action, items: given } of items) {
    const job = findJob(run, id);
    if (job === null) return refuse("STEP_NOT_FOUND", `run ${run.id} has no job ${id}`);
    if (action === "complete" && job.step.definition.forEach && given === null)
      return refuse(
        "NOT_AN_ARRAY",
        `${job.step.definition.id} is a forEach step: its output must be an array`,
      );
    if (job.status !== "pending_failed")
      return refuse("NOT_HELD", `${job.step.definition.id} is ${job.status}, not pending_failed`);
  }
  if (new Set(items.map(({ job }) => job)).size < items.length)
    return refuse("USAGE", "a job is named twice");
  return null;
}

function refuseAnswer(run: Run, id: number, choice: string): Refusal | null {
  const job = findJob(run, id);
  if (job === null) return refuse("STEP_NOT_FOUND", `run ${run.id} has no job ${id}`);
  if (job.question === null)
    return refuse("NOT_ASKED", `${job.step.definition.id} is ${job.status} and asks nothing`);
  if (!job.question.choices.includes(choice))
    return refuse("INVALID_VALUE", `${choice} is not among ${job.question.choices.join(", ")}`);
  return null;
}

/** Take a command that `refusalOf` lets through. */
export function operate(decision: Decision, command: OperatorCommand): void {
  const { run } = decision;
  if ((command.key !== null && run.operatorKeys.has(command.key)) || refusalOf(run, command) !== null) return;
  switch (command.type) {
    case "run.cancel":
      return cancelRun(decision, command.reason, command.key);
    case "run.pause":
      if (run.paused === null || (command.takeover && !run.paused.takeover))
        decision.emit({
          type: "run.paused",
          reason: command.reason,
          key: command.key,
          takeover: command.takeover,
        });
      return;
    case "run.unpause":
      decision.emit({ type: "run.unpaused", reason: command.reason, key: command.key });
      return startReservedRecoveries(decision);
    case "step.retry":
      return retryJobs(decision, {
        jobs: [jobById(run, command.job)],
        reblocked: [],
        action: "retry_step",
        reason: command.reason,
        key: command.key,
      });
    case "step.resume_from":
      return resumeFrom(decision, jobById(run, command.job), command.reason, command.key);
    case "run.reset":
      return resetFailed(decision, command.reason, command.key);
    case "holds.resolve":
      for (const item of command.items)
        resolveHold(decision, item, item.reason ?? command.reason, command.key);
      return;
    case "human.answer":
      return answer(decision, command);
  }
}

function cancelRun(decision: Decision, reason: string, key: string | null): void {
  const { run } = decision;
  if (run.cancelRequested !== null) return;
  decision.emit({ type: "run.cancel_requested", reason, key });
  if (run.status === "pending") decision.emit({ type: "run.started" });
  abandonScope(decision, run.root, "canceled", "RUN_CANCELED", reason);
}

function reopen(decision: Decision, reason: string, key: string | null): void {
  if (isOver(decision.run)) decision.emit({ type: "run.reopened", reason, key });
}

interface Retried {
  readonly jobs: readonly Job[];
  /** Wait again, without being asked to run. */
  readonly reblocked: readonly Job[];
  readonly action: "retry_step" | "reset" | "resolve";
  readonly reason: string;
  readonly key: string | null;
}

/** New visits for these jobs; what was canceled or skipped because of them waits for them again. */
function retryJobs(decision: Decision, { jobs, reblocked, action, reason, key }: Retried): void {
  reopen(decision, reason, null);
  const waiting = [...new Set([...reblocked, ...givenUpBehind(decision.run, jobs)])];
  // A transition had brought these here: nothing that they depend on will start them.
  const routed = jobs.filter(
    (job) => job.entered && (job.step.definition.start === "routed" || gateState(job.gate) !== "met"),
  );
  decision.emit({
    type: "jobs.retried",
    jobs: jobs.map(({ id }) => id),
    reblocked: waiting.map(({ id }) => id),
    action,
    reason,
    key,
  });
  const fresh = [...jobs, ...waiting];
  for (const job of withDependentsStillWaiting(fresh)) decideJoin(decision, job);
  for (const job of routed) startRouted(decision, job);
  startAll(decision, fresh, "operator");
  giveUpLost(decision, fresh);
}

function startRouted(decision: Decision, job: Job): void {
  if (job.status !== "blocked" || job.evaluation !== null) return;
  if (job.step.definition.if !== null) askIf(decision, job);
  else decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "operator" });
}

function givenUpBehind(run: Run, jobs: readonly Job[]): Job[] {
  const found = new Set<Job>();
  const given = new Set(jobs);
  const queue = [...jobs];
  for (const job of queue) {
    const dependents = [...waitingFor(job)].map(({ job: dependent }) => dependent);
    for (const dependent of job.step.definition.forEach
      ? [...dependents, ...reducersWaiting(run, job)]
      : dependents) {
      if (found.has(dependent) || given.has(dependent)) continue;
      if (dependent.barrier !== null || !isGivenUp(dependent)) continue;
      found.add(dependent);
      queue.push(dependent);
    }
  }
  return [...found];
}

/** Not one that a person has skipped, or whose dependents have had what they need. */
function isGivenUp(job: Job): boolean {
  return (job.status === "canceled" || job.status === "skipped") && job.settledAs === "lost";
}

/** An operator's goto to any step; it costs no loop. */
function resumeFrom(decision: Decision, target: Job, reason: string, key: string | null): void {
  reopen(decision, reason, null);
  decision.emit({ type: "operator.goto", target: target.id, to: target.step.definition.id, reason, key });
  openBarrierOver(decision, target, { forced: true, from: null, edge: null });
}

/** Everything that failed without being handled, was canceled, or is held. */
function resetFailed(decision: Decision, reason: string, key: string | null): void {
  const { run } = decision;
  const wanted = new Set(run.jobs.filter((job) => job.scope.open && job.barrier === null && isToReset(job)));
  // These wait until they are routed to again: they had not begun, or what routed to them runs anew itself.
  const reblocked = [...wanted].filter((job) =>
    job.routedFrom === null
      ? !job.entered && job.step.definition.start === "routed"
      : wanted.has(job.routedFrom.job),
  );
  const jobs = [...wanted].filter((job) => !reblocked.includes(job));
  if (jobs.length > 0) retryJobs(decision, { jobs, reblocked, action: "reset", reason, key });
}

/** A repair step's failure belongs to the step it was to repair, which asks for it again if need be. */
function isToReset(job: Job): boolean {
  if (job.status === "failed") return job.partOf === null && !isHandled(job);
  return job.status === "canceled" || job.status === "pending_failed";
}

function resolveHold(
  decision: Decision,
  { job: id, action, output, items }: HoldDecision,
  reason: string,
  key: string | null,
): void {
  const job = jobById(decision.run, id);
  // An item before this one may have ended the run's or the scope's holds.
  if (job.status !== "pending_failed") return;
  const first = job.settledAs === null;
  decision.emit({ type: "hold.resolved", job: id, action, reason, key, output, items });
  switch (action) {
    case "retry":
      return retryJobs(decision, { jobs: [job], reblocked: [], action: "resolve", reason, key: null });
    case "fail":
      return failJob(decision, job, job.error?.code ?? "FAILED", job.error?.message ?? "failed by decision");
    case "skip":
    case "complete":
      if (job.followingUp) return followUp(decision, job);
      if (first) openScopesOf(decision, job);
      return cascade(decision, [job]);
  }
}

/** A person's word ends the attempt: as a success with the choice as output, or as a failure if the choice rejects. */
function answer(decision: Decision, command: Extract<OperatorCommand, { type: "human.answer" }>): void {
  const job = jobById(decision.run, command.job);
  decision.emit({
    type: "human.answered",
    job: job.id,
    attempt: job.attempt,
    choice: command.choice,
    text: command.text,
    key: command.key,
  });
}
