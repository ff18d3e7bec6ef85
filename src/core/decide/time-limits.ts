import { isOver } from "../model/run.js";
import { durationAmount } from "../text/amount-text.js";
import type { Decision } from "./decision.js";
import { cancelRun } from "./operator.js";

/**
 * How long a run may take counts from its start or reopening, and not while it is paused or held. When it begins and
 * ceases to count stands in the log with the moments that follow from it, so that a timer needs nothing else.
 */
export function keepTime(decision: Decision): void {
  const { run, now } = decision;
  const { timeLimits } = run.definition;
  // Whatever ends it, its time is of no more account.
  if (timeLimits === undefined || isOver(run) || run.cancelRequested !== null) return;
  const { counting, usedMs, warned } = run.timeUsed;
  if ((run.status === "running") === (counting !== null)) return;
  if (counting !== null)
    return decision.emit({ type: "time.stopped", usedMs: usedMs + Math.max(0, now - counting.since) });
  const { deadlineMs, warnAfterMs } = timeLimits;
  const moment = (limitMs: number | null): number | null =>
    limitMs === null ? null : now + Math.max(0, limitMs - usedMs);
  decision.emit({
    type: "time.counted",
    deadlineAt: moment(deadlineMs),
    warnAt: warned ? null : moment(warnAfterMs),
  });
}

/** One of the two moments has come. */
export function reachMoment(decision: Decision, at: number): void {
  const { counting } = decision.run.timeUsed;
  const { deadlineMs = null, warnAfterMs = null } = decision.run.definition.timeLimits ?? {};
  if (counting === null) return;
  if (counting.warnAt === at && warnAfterMs !== null)
    decision.emit({ type: "time.warned", afterMs: warnAfterMs });
  if (counting.deadlineAt === at && deadlineMs !== null)
    cancelRun(decision, {
      reason: `it took longer than its deadline of ${durationAmount(deadlineMs)}`,
      key: null,
      code: "DEADLINE",
    });
}
