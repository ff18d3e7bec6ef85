import {
  type Breaker,
  type BreakerPolicy,
  type BreakerState,
  type BreakerUser,
  breakersOf,
  noteFailures,
  noteSuccess,
  type SharedBreakers,
  type UsedBreaker,
} from "../../../core/breakers/breaker.js";
import { concernsBreaker } from "../../../core/failure/judge.js";
import type { NotifyRule } from "../../../core/model/definition.js";
import type { Event } from "../../../core/model/events.js";
import { jobById, type Run } from "../../../core/model/run.js";
import type { Notice } from "../../../core/notices/notice.js";
import { noticesFor } from "../../../core/notices/notices-of.js";
import { durationAmount } from "../../../core/text/amount-text.js";

/** The rules of the settings, and of the workflows here that use the breaker. */
export function rulesFor(
  key: string,
  users: Iterable<{ readonly run: BreakerUser }>,
  shared: SharedBreakers,
  notify: readonly NotifyRule[] = [],
): NotifyRule[] {
  const own = new Set<NotifyRule>();
  for (const { run } of users) {
    const { notify: rules = [], steps } = run.definition;
    const uses = (definition: (typeof steps)[number]) =>
      breakersOf(run, { step: { definition } }, shared).some((used) => used.key === key);
    if (rules.length > 0 && steps.some(uses)) for (const rule of rules) own.add(rule);
  }
  return [...own, ...notify];
}

/** Notices for people about a breaker that failures, or an operator, have just opened. */
export function openingNotices(
  key: string,
  {
    before,
    after,
    notes,
    rules,
  }: {
    readonly before: Breaker;
    readonly after: Breaker;
    /** What runs have met; empty if it was opened by hand. */
    readonly notes: readonly Noted[];
    readonly rules: readonly NotifyRule[];
  },
): { readonly notices: readonly Notice[] } {
  const { opened, openings } = after;
  if (opened === null || before.opened !== null || rules.length === 0) return { notices: [] };
  const runId = notes.filter((noted) => isFailureOf(noted, key)).at(-1)?.runId ?? null;
  const { at, by, reason } = opened;
  const cause = {
    ...({ kind: "breaker", thing: JSON.stringify(["breaker", key]), run_id: runId } as const),
    ...{ workflow: null, step: null, signature: null },
    facts: { name: key, reason, ...(by === null ? {} : { by }) },
  };
  const mark = `breaker\n${key}\n${at}\n${openings}`;
  return { notices: noticesFor(cause, rules, { at, mark }) };
}

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

/** Describes a change of a breaker in a sentence. */
export function breakerText(
  key: string,
  { opened, closed }: Breaker,
  { probeEveryMs, maxOpenMs }: BreakerPolicy,
  state: BreakerState,
): string {
  switch (state) {
    case "open":
      return opened?.by == null
        ? `breaker ${key} is open (${opened?.reason ?? ""}): steps that use it wait, one is tried every ${durationAmount(probeEveryMs)}`
        : `breaker ${key} was opened by hand (${opened.reason}): steps that use it wait until somebody closes it`;
    case "spent":
      return `breaker ${key} has been open for ${durationAmount(maxOpenMs)}: it stops nothing any more, and the failures that waited for it climb on`;
    case "closed":
      return `breaker ${key} is closed (${closed?.reason ?? ""}): the steps that waited for it go on`;
  }
}
