import type { Command } from "../model/commands.js";
import { attemptDuration } from "../model/jobs.js";
import type { Outcome } from "../model/outcome.js";
import { findJob, type Job } from "../model/run.js";
import { HUMAN } from "../model/worker-names.js";
import { durationAmount } from "../text/amount-text.js";
import type { Decision } from "./decision.js";
import { finishAttempt } from "./finish-attempt.js";
import { operate } from "./operator.js";

/** A human step's turn: an attempt that no worker runs. It waits for an answer, or for its timeout. */
export function askHuman(decision: Decision, command: Extract<Command, { type: "human.ask" }>): void {
  const { run, now } = decision;
  const job = findJob(run, command.job);
  if (job === null || job.status !== "ready" || run.paused !== null) return;
  const attempt = job.attempt + 1;
  decision.emit({
    type: "attempt.started",
    job: job.id,
    attempt,
    visit: job.visit,
    worker: HUMAN,
    token: command.token,
  });
  const { prompt, choices, timeoutMs, choose } = command;
  const dueAt = timeoutMs === null ? null : now + timeoutMs;
  decision.emit({
    type: "human.asked",
    job: job.id,
    attempt,
    prompt,
    choices,
    due_at: dueAt,
    ...(dueAt === null || choose === undefined ? {} : { choose }),
  });
}

/** The answer ends the attempt: the choice is its output, or its failure if the choice rejects. */
export function answerHuman(decision: Decision, command: Extract<Command, { type: "human.answer" }>): void {
  operate(decision, command);
  const job = findJob(decision.run, command.job);
  if (job === null || job.status !== "running" || job.attemptWorker !== HUMAN) return;
  endQuestion(decision, job, command.choice, command.text);
}

function endQuestion(decision: Decision, job: Job, choice: string, text: string): void {
  const message = text === "" ? choice : `${choice}: ${text}`;
  const outcome: Outcome = isRejection(job, choice)
    ? { kind: "failed", facts: { code: "REJECTED", message } }
    : { kind: "succeeded", output: { kind: "value", value: { choice, text } } };
  finishAttempt(decision, job, { ...outcome, duration_ms: attemptDuration(job, decision.now) });
}

function isRejection(job: Job, choice: string): boolean {
  const { reject } = job.step.definition.action;
  return Array.isArray(reject) && reject.includes(choice);
}

/** Nobody has answered in time. Like a hold, a question of a paused run waits until the run goes on. */
export function expireQuestion(decision: Decision, job: Job): void {
  if (decision.run.paused !== null) return;
  const choice = job.question?.choose;
  if (choice === undefined)
    return finishAttempt(decision, job, {
      kind: "failed",
      facts: { timeout: "wall", message: "nobody answered in time" },
      duration_ms: attemptDuration(job, decision.now),
    });
  const { id, attempt, waitMs } = job;
  const reason = `nobody answered within ${durationAmount(waitMs)}`;
  decision.emit({
    type: "human.answered",
    job: id,
    attempt,
    choice,
    text: "",
    reason,
    key: null,
    expired: true,
  });
  endQuestion(decision, job, choice, "");
}
