import { isOver, type Job } from "../model/run.js";
import { durationAmount } from "../text/amount-text.js";
import { drain } from "./agenda.js";
import type { Decision } from "./decision.js";
import { itemsOf, refuseItems } from "./item-limit.js";
import { holdExpiry } from "./ladder/hold.js";
import { resolveHold } from "./operator.js";

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
    if (job.status === "pending_failed") expireHold(decision, job);
    else if (run.asking.has(job)) expireQuestion(job);
    drain(decision);
  }
}
