import type { Command } from "../model/commands.js";
import { attemptDuration } from "../model/jobs.js";
import { findJob, type Job } from "../model/run.js";
import { HUMAN } from "../model/worker-names.js";
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
  const dueAt = command.timeoutMs === null ? null : now + command.timeoutMs;
  decision.emit({
    type: "human.asked",
    job: job.id,
    attempt,
    prompt: command.prompt,
    choices: command.choices,
    dueAt,
  });
}

/** The answer ends the attempt: the choice is its output, or its failure if the choice rejects. */
export function answerHuman(decision: Decision, command: Extract<Command, { type: "human.answer" }>): void {
  operate(decision, command);
  const job = findJob(decision.run, command.job);
  if (job === null || job.status !== "running" || job.attemptWorker !== HUMAN) return;
  const durationMs = attemptDuration(job, decision.now);
  const said = command.text === "" ? command.choice : `${command.choice}: ${command.text}`;
  if (isRejection(job, command.choice)) {
    return finishAttempt(
      decision,
      job,
      { kind: "failed", facts: { code: "REJECTED", message: said } },
      { durationMs },
    );
  }
  const value = { choice: command.choice, text: command.text };
  finishAttempt(
    decision,
    job,
    { kind: "succeeded", output: { kind: "value", value }, items: null },
    { durationMs },
  );
}

function isRejection(job: Job, choice: string): boolean {
  const { reject } = job.step.definition.action;
  return Array.isArray(reject) && reject.includes(choice);
}

export function timeOutQuestion(decision: Decision, job: Job): void {
  const durationMs = attemptDuration(job, decision.now);
  finishAttempt(
    decision,
    job,
    { kind: "failed", facts: { timeout: "wall", message: "nobody answered in time" } },
    { durationMs },
  );
}
