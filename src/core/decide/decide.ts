import type { Command } from "../model/commands.js";
import type { Event } from "../model/events.js";
import type { FailureFacts } from "../model/failure.js";
import { WAIT } from "../model/flow.js";
import { attemptDuration } from "../model/jobs.js";
import type { Outcome } from "../model/outcome.js";
import { isQueued } from "../model/resting.js";
import { findJob, isOver, type Run } from "../model/run.js";
import { BASH_OR_SH } from "../model/shell.js";
import { knownPlace, NOWHERE } from "../model/worker-names.js";
import { mayStart } from "../model/workspace-turn.js";
import { drain } from "./agenda.js";
import { Decision } from "./decision.js";
import { endIfQuiescent } from "./ending/ending.js";
import { finishEvaluation } from "./evaluations.js";
import { endStopped, finishAttempt } from "./finish-attempt.js";
import { declareStep, endWait, wakeProgram } from "./flow.js";
import { answerHuman, askHuman, expireQuestion } from "./human.js";
import { unpark } from "./ladder/unpark.js";
import { operate } from "./operator.js";
import {
  driveWorkspace,
  finishRebuild,
  leaveQueue,
  leaveWorkspace,
  moveWorkspace,
  repeatRebuild,
} from "./rebuild.js";
import { finishRecovery, interruptRecovery, repeatRecovery, startReservedRecoveries } from "./recovery.js";
import { clearTheWay, finishSetAside, letGoOfTree, repeatSetAside } from "./set-aside.js";
import { startAll } from "./start.js";
import { jobIn } from "./targets.js";
import { expireHold, expireOverdue, keepTime, reachMoment } from "./time-limits.js";

/**
 * Decides a command and returns its events, already folded into `run`. Total and deterministic: a command that no
 * longer applies (a duplicate, a late result, a timer of a job that has moved on) gives no event. `isActedOn` says that
 * an engine has the run. Without one no workspace is begun, because the next owner of the run would find it half built.
 */
export function decide(run: Run, command: Command, now: number, isActedOn = true): Event[] {
  const decision = new Decision(run, now);
  if (!isOver(run) || reopens(command)) {
    apply(decision, command);
    drain(decision);
    driveWorkspace(decision, isActedOn);
    wakeProgram(decision);
    endIfQuiescent(decision);
    // What follows a success may have gone back on the way to the end.
    driveWorkspace(decision, isActedOn);
    keepTime(decision);
  }
  return decision.events;
}

const REOPENING: ReadonlySet<Command["type"]> = new Set([
  "step.retry",
  "step.resume_from",
  "step.hard_reset",
  "step.redrive",
  "run.reset",
  "jobs.recover",
]);

/** A run that is over takes nothing but an operator's wish to go on with it. */
function reopens(command: Command): boolean {
  return REOPENING.has(command.type);
}

function apply(decision: Decision, command: Command): void {
  switch (command.type) {
    case "run.start":
      return startRun(decision);
    case "run.resume":
      return resumeRun(decision, new Set(command.kept));
    case "run.interrupt":
      return interruptRun(decision, new Set(command.kept));
    case "run.fork":
      return decision.emit({ ...command, type: "run.forked" });
    case "run.unpause":
      operate(decision, command);
      return expireDue(decision);
    case "run.cancel":
    case "run.pause":
    case "step.retry":
    case "step.resume_from":
    case "step.hard_reset":
    case "step.redrive":
    case "run.reset":
    case "jobs.recover":
    case "holds.resolve":
      return operate(decision, command);
    case "human.answer":
      return answerHuman(decision, command);
    case "human.ask":
      return askHuman(decision, command);
    case "recovery.finish":
      return finishRecovery(decision, command);
    case "workspace.open":
      if (decision.run.workspace.commit !== null || !decision.run.definition.workspace) return;
      return decision.emit({ ...command, type: "workspace.opened" });
    case "workspace.move":
      return moveWorkspace(decision, command);
    case "workspace.leave":
      return leaveWorkspace(decision, command);
    case "rebuild.finish":
      return finishRebuild(decision, command);
    case "set_aside.finish":
      return finishSetAside(decision, command);
    case "attempt.start":
      return startAttempt(decision, command);
    case "attempt.finish": {
      const job = findJob(decision.run, command.job);
      if (job === null || job.status !== "running" || job.attempt !== command.attempt) return;
      return finishAttempt(decision, job, command.outcome, command.breakers);
    }
    case "jobs.unpark":
      return unpark(decision, command.jobs, command.breaker, command.because);
    case "timer.fire": {
      const job = findJob(decision.run, command.job);
      if (job === null || job.dueAt !== command.dueAt) return;
      if (job.status === "held") return expireHold(decision, job);
      if (job.status !== "waiting") return;
      if (job.question !== null) return expireQuestion(decision, job);
      if (job.queue.waiting) return leaveQueue(decision, job);
      if (job.step.definition.action.type === WAIT) return endWait(decision, job);
      return decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "retry" });
    }
    case "step.declare":
      return declareStep(decision, command);
    case "time.reach":
      return reachMoment(decision, command.at);
    case "evaluation.finish":
      return finishEvaluation(decision, command.job, command.id, command.result);
    default:
      return unknownCommand(command);
  }
}

function unknownCommand(command: never): never {
  throw new TypeError(`unknown command ${JSON.stringify(command)}`);
}

function startRun(decision: Decision): void {
  const { run } = decision;
  if (run.status !== "pending") return;
  decision.emit({ type: "run.started" });
  const { only } = run.options;
  if (only === null) return startAll(decision, run.jobs, "start");
  // One that only the end of a run would enter has no job yet.
  const wantedStep = run.graph.byId.get(only);
  if (wantedStep !== undefined && wantedStep.atEnd !== null) jobIn(decision, run.root, wantedStep);
  const others = run.jobs.filter((job) => job.step.definition.id !== only).map((job) => job.id);
  if (others.length > 0)
    decision.emit({
      type: "jobs.skipped",
      jobs: others,
      because: "only",
      reason: `only ${only} was asked for`,
    });
  const wanted = run.jobs.filter((job) => job.step.definition.id === only).map((job) => job.id);
  decision.emit({ type: "jobs.ready", jobs: wanted, reason: "start" });
}

/** The attempts that died with their owner: each climbs as lost, or ends if it was being ended. Kept ones go on. */
function resumeRun(decision: Decision, kept: ReadonlySet<number>): void {
  const { run } = decision;
  const lost = [...run.running].filter((job) => !kept.has(job.id));
  decision.emit({ type: "run.resumed", lost: lost.map((job) => ({ job: job.id, attempt: job.attempt })) });
  // One that waits for its place starts when it has it.
  if (run.startedAt === null) return isQueued(run) ? undefined : startRun(decision);
  for (const job of run.jobs) {
    if (!kept.has(job.id)) repeatRecovery(decision, job);
    drain(decision);
  }
  startReservedRecoveries(decision);
  repeatRebuild(decision, kept);
  drain(decision);
  repeatSetAside(decision);
  drain(decision);
  for (const job of lost) {
    const duration_ms = attemptDuration(job, decision.now);
    const facts: FailureFacts = { lost: true, message: "the engine that ran this attempt is gone" };
    const ended: Outcome = job.stopping === null ? { kind: "failed", facts } : { kind: "stopped" };
    finishAttempt(decision, job, { ...ended, duration_ms });
    drain(decision);
  }
  expireDue(decision);
}

function expireDue(decision: Decision): void {
  drain(decision);
  expireOverdue(decision, (job) => expireQuestion(decision, job));
}

/** What the engine ended itself is ready again, at no cost; what was to end anyway has ended. */
function interruptRun(decision: Decision, kept: ReadonlySet<number>): void {
  for (const job of [...decision.run.running]) {
    if (kept.has(job.id)) continue;
    const durationMs = attemptDuration(job, decision.now);
    if (job.stopping !== null) {
      endStopped(decision, job, { duration_ms: durationMs });
      drain(decision);
      continue;
    }
    decision.emit({
      type: "attempt.stopped",
      job: job.id,
      attempt: job.attempt,
      because: "interrupted",
      duration_ms: durationMs,
    });
    decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "restart" });
  }
  for (const job of decision.run.jobs) {
    if (!kept.has(job.id)) interruptRecovery(decision, job);
    drain(decision);
  }
}

function startAttempt(decision: Decision, command: Extract<Command, { type: "attempt.start" }>): void {
  const { run } = decision;
  const { worker, token, place = NOWHERE, placed, hasBash = false } = command;
  const job = findJob(run, command.job);
  const keptBack = new Set(command.keptBack);
  if (job === null || !mayStart(run, job, ({ id }) => keptBack.has(id))) return;
  const letsGo = letGoOfTree(decision, job);
  if (clearTheWay(decision, job, letsGo)) return;
  decision.emit({
    type: "attempt.started",
    job: job.id,
    attempt: job.attempt + 1,
    visit: job.visit,
    worker,
    token,
    ...knownPlace(place),
    ...(placed === undefined ? {} : { placed }),
    ...(job.step.definition.action.shell === BASH_OR_SH ? { shell: hasBash ? "bash" : "sh" } : {}),
    ...letsGo,
  });
}
