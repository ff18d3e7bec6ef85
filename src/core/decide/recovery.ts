import { messageOf } from "../failure/judge.js";
import type { Command } from "../model/commands.js";
import { codeOfStop } from "../model/jobs.js";
import { findJob, isInRecovery, type Job } from "../model/run.js";
import type { Decision } from "./decision.js";
import { goOnAfterStop } from "./start.js";

/** A recovery script has ended, well or badly: the retry it was for was reserved before and happens either way. */
export function finishRecovery(
  decision: Decision,
  command: Extract<Command, { type: "recovery.finish" }>,
): void {
  const job = findJob(decision.run, command.job);
  if (job === null || job.recovery === null || job.recovery.attempt !== command.attempt) return;
  const { outcome } = command;
  const facts = outcome.kind === "failed" ? outcome.facts : null;
  // Its worker is gone, and nobody knows how far it came.
  if (facts?.lost === true || facts?.evicted === true) return repeatRecovery(decision, job);
  const ok = outcome.kind === "succeeded";
  endRecovery(decision, job, {
    ok,
    exit_code: facts?.exitCode ?? (ok ? 0 : null),
    message: facts === null ? (ok ? "" : "stopped") : messageOf(facts),
    duration_ms: outcome.duration_ms ?? 0,
  });
}

function endRecovery(
  decision: Decision,
  job: Job,
  how: { ok: boolean; exit_code: number | null; message: string; duration_ms: number },
): void {
  const { ok, exit_code, message, duration_ms } = how;
  const { stopping } = job;
  decision.emit({
    type: "recovery.finished",
    job: job.id,
    attempt: job.attempt,
    ok,
    exit_code,
    message,
    duration_ms,
  });
  if (stopping === null) return decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "rule" });
  if (stopping !== "superseded") {
    decision.emit({
      type: "jobs.canceled",
      jobs: [job.id],
      code: codeOfStop(stopping),
      reason: "stopped while it was recovering",
    });
  }
  decision.add({ kind: "barriers" });
  decision.add(() => goOnAfterStop(decision, job));
}

/** The engine that stops has ended the script: it begins again at no cost. One that was to end anyway has ended. */
export function interruptRecovery(decision: Decision, job: Job): void {
  if (!isInRecovery(job)) return;
  if (job.stopping === null)
    return decision.emit({ type: "recovery.interrupted", job: job.id, attempt: job.attempt });
  endRecovery(decision, job, {
    ok: false,
    exit_code: null,
    message: "ended with its engine",
    duration_ms: 0,
  });
}

/** Scripts that were reserved while the run was paused, or that an engine that stopped has ended. */
export function startReservedRecoveries(decision: Decision): void {
  for (const job of decision.run.jobs)
    if (job.recovery !== null && !isInRecovery(job)) startRecovery(decision, job);
}

/** Nothing starts in a paused run: its scripts wait until the pause is lifted. */
export function startRecovery(decision: Decision, job: Job): void {
  if (decision.run.paused !== null) return;
  decision.emit({
    type: "recovery.started",
    job: job.id,
    attempt: job.attempt,
    try: job.recovery!.tries + 1,
    token: recoveryToken(job),
  });
}

/** The engine or the worker died while the script ran: it runs again, but not for ever. */
export function repeatRecovery(decision: Decision, job: Job): void {
  if (!isInRecovery(job)) return;
  const tries = job.recovery!.tries;
  if (
    job.status !== "recovering" ||
    job.stopping !== null ||
    tries > Math.max(1, decision.run.definition.maxRecoveries)
  ) {
    return endRecovery(decision, job, {
      ok: false,
      exit_code: null,
      message: "lost with its engine",
      duration_ms: 0,
    });
  }
  decision.emit({
    type: "recovery.started",
    job: job.id,
    attempt: job.attempt,
    try: tries + 1,
    token: recoveryToken(job),
  });
}

/** The failed attempt's token with a suffix: what carries it can be found and ended as that attempt's script. */
function recoveryToken(job: Job): string {
  return `${job.attemptToken ?? job.id}-recovery`;
}
