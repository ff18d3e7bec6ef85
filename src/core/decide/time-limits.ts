import { isOver, type Job } from "../model/run.js";
import { durationAmount } from "../text/amount-text.js";
import { drain } from "./agenda.js";
import type { Decision } from "./decision.js";
import { itemsOf, refuseItems } from "./item-limit.js";
import { holdExpiry } from "./ladder/hold.js";
import { cancelRun, resolveHold } from "./operator.js";

/**
 * How long a run may take counts from its start or reopening, and not while it is paused, held or about to end. When it begins and
 * ceases to count stands in the log with the moments that follow from it, so that a timer needs nothing else.
 */
export function keepTime(decision: Decision): void {
  const { run, now } = decision;
  const { timeLimits } = run.definition;
  // Whatever ends it, its time is of no more account.
  const isEnding = run.ending !== null;
  if (timeLimits === undefined || isOver(run) || (run.cancelRequested !== null && !isEnding)) return;
  const { counting, usedMs, warned } = run.timeUsed;
  if ((run.status === "running" && !isEnding) === (counting !== null)) return;
  if (counting !== null)
    return decision.emit({ type: "time.stopped", used_ms: usedMs + Math.max(0, now - counting.since) });
  const { deadlineMs, warnAfterMs } = timeLimits;
  const moment = (limitMs: number | null): number | null =>
    limitMs === null ? null : now + Math.max(0, limitMs - usedMs);
  decision.emit({
    type: "time.counted",
    deadline_at: moment(deadlineMs),
    warn_at: warned ? null : moment(warnAfterMs),
  });
}

/** One of the two moments has come. */
export function reachMoment(decision: Decision, at: number): void {
  const { counting } = decision.run.timeUsed;
  const { deadlineMs = null, warnAfterMs = null } = decision.run.definition.timeLimits ?? {};
  if (counting === null) return;
  if (counting.warnAt === at && warnAfterMs !== null)
    decision.emit({ type: "time.warned", after_ms: warnAfterMs });
  if (counting.deadlineAt === at && deadlineMs !== null)
    cancelRun(decision, {
      reason: `it took longer than its deadline of ${durationAmount(deadlineMs)}`,
      key: null,
      code: "DEADLINE",
    });
}

/** Nobody has decided in time. A paused run decides nothing by itself; what is due by then, when it goes on. */
export function expireHold(decision: Decision, job: Job): void {
  const { run } = decision;
  const expiry = holdExpiry(run, job);
  if (expiry === null || run.paused !== null) return;
  const reason = `nobody decided within ${durationAmount(expiry.expiresMs)}`;
  const value = expiry.output ?? null;
  const items = job.step.definition.forEach ? itemsOf(value) : null;
  const isRefused = expiry.action === "complete" && refuseItems(run, job, items?.length ?? 0) !== null;
  const action = isRefused ? "fail" : expiry.action;
  const given =
    action === "complete"
      ? ({ output: { kind: "value", value }, items } as const)
      : { output: null, items: null };
  resolveHold(decision, { job: job.id, action, ...given }, reason, { key: null, expired: true });
}

/** Holds and questions whose time was up while nobody ran the run, or while it was paused. */
export function expireOverdue(decision: Decision, expireQuestion: (job: Job) => void): void {
  const { run, now } = decision;
  if (run.paused !== null || run.cancelRequested !== null) return;
  for (const job of [...run.held, ...run.asking]) {
    if (isOver(run) || job.dueAt === null || job.dueAt > now) continue;
    if (job.status === "held") expireHold(decision, job);
    else if (run.asking.has(job)) expireQuestion(job);
    drain(decision);
  }
}
