import { type Breaker, noteFailures, noteSuccess } from "../../../core/breakers/breaker.js";
import { breakersOf, type SharedBreakers, type UsedBreaker } from "../../../core/breakers/breakers-of.js";
import { concernsBreaker } from "../../../core/failure/judge.js";
import type { Event } from "../../../core/model/events.js";
import { jobById, type Run } from "../../../core/model/run.js";

/** What an event means for the breakers of its step. */
export interface Noted {
  readonly used: readonly UsedBreaker[];
  readonly runId: number;
  /** When the successful attempt began; null for a failure. */
  readonly begunAt: number | null;
  readonly reason: string;
}

/** The note for an event that was just decided; null if it concerns no breaker. */
export function notedOf(run: Run, event: Event, shared: SharedBreakers): Noted | null {
  if (event.type !== "attempt.failed" && event.type !== "attempt.succeeded") return null;
  const job = jobById(run, event.job);
  const used = breakersOf(run, job, shared);
  if (event.type === "attempt.succeeded")
    return used.length === 0 ? null : { used, runId: run.id, begunAt: job.attemptStartedAt, reason: "" };
  const counting = used.filter(({ policy }) => concernsBreaker(event.error, policy.classes));
  const reason = `${event.error.code} of ${job.step.definition.id} in run ${run.id}`;
  return counting.length === 0 ? null : { used: counting, runId: run.id, begunAt: null, reason };
}

export function isFailureOf({ used, begunAt }: Noted, key: string): boolean {
  return begunAt === null && used.some((each) => each.key === key);
}

/** The breaker after these notes, in order. `aheadMs` is how far the store's clock is ahead of this engine's. */
export function withNotes(
  breaker: Breaker,
  { key, policy }: UsedBreaker | { readonly key: string; readonly policy: Breaker["policy"] },
  notes: readonly Noted[],
  now: number,
  aheadMs: number,
): Breaker {
  return notes
    .filter(({ used }) => used.some((each) => each.key === key))
    .reduce(
      (before, { begunAt, reason }) =>
        begunAt === null
          ? noteFailures(before, policy, { count: 1, reason }, now)
          : noteSuccess(before, begunAt + aheadMs, now),
      breaker,
    );
}
