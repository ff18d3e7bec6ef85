import type { HoldDecision, OperatorCommand } from "./commands.js";
import type { ErrorCode } from "./errors.js";
import { gateState } from "./gate.js";
import { findJob, isOver, type Job, type Run } from "./run.js";

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
      return refuseResumeFrom(run, command.job, command.force ?? false);
    case "step.hard_reset":
      return refuseHardReset(run, command.job, command.force ?? false);
    case "step.redrive":
      return refuseRedrive(run, command.job);
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

function refuseResumeFrom(run: Run, id: number, force: boolean): Refusal | null {
  const job = findJob(run, id);
  if (job === null) return refuse("STEP_NOT_FOUND", `run ${run.id} has no job ${id}`);
  if (run.cancelRequested !== null && !isOver(run)) return refuse("RUN_OVER", "the run is being canceled");
  if (!job.scope.open) return refuse("NOT_RETRYABLE", `the scope ${job.scope.id} is gone`);
  if (gateState(job.gate) !== "met" && job.step.groups.length > 0)
    return refuse("DEPENDENCY_FAILED", `what ${job.step.definition.id} depends on is not completed`);
  return refuseBusy(run, force);
}

/** A step at work in the workspace would have it swapped under its feet, or its own work thrown away. */
function refuseBusy(run: Run, force: boolean): Refusal | null {
  const { running, rebuild } = run.workspace;
  const busy = running ?? (rebuild === null || rebuild.built ? null : rebuild.job);
  if (force || busy === null) return null;
  return refuse("WORKSPACE_BUSY", `${busy.step.definition.id} is at work in the workspace`);
}

function refuseHardReset(run: Run, id: number, force: boolean): Refusal | null {
  const job = findJob(run, id);
  if (job === null) return refuse("STEP_NOT_FOUND", `run ${run.id} has no job ${id}`);
  if (run.cancelRequested !== null && !isOver(run)) return refuse("RUN_OVER", "the run is being canceled");
  const step = job.step.definition.id;
  if (!job.step.definition.usesWorkspace)
    return refuse("NO_WORKSPACE", `${step} does not work in a workspace`);
  if (job.status === "completed") return refuse("STEP_COMPLETED", `${step} is completed`);
  const reason = whyNotResettable(run, job, force);
  if (reason !== null) return refuse("NOT_RETRYABLE", `${step} ${reason}`);
  return refuseBusy(run, force);
}

function whyNotResettable(run: Run, job: Job, force: boolean): string | null {
  if (!job.scope.open) return `belongs to the scope ${job.scope.id}, which is gone`;
  if (job.barrier !== null) return "is about to begin anew";
  if (job.reset !== null) return "is being reset already";
  switch (job.status) {
    case "failed":
    case "pending_failed":
    case "waiting":
      return null;
    case "recovering":
      if (job.recovery !== null) return "waits for its recovery script";
      return job.list === null ? null : "is being repaired";
    case "ready":
      return run.paused === null ? "is about to run; pause the run first" : null;
    case "running":
      // Without force the workspace is busy, which is the better word for it.
      return job.stopping === null || !force ? null : "is being ended";
    default:
      return `is ${job.status}`;
  }
}

function refuseRedrive(run: Run, id: number): Refusal | null {
  const job = findJob(run, id);
  if (job !== null && !job.queue.dead)
    return refuse("NOT_DEAD_LETTER", `${job.step.definition.id} is ${job.status} and no dead letter`);
  return refuseRetry(run, id);
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
