import type { Breaker } from "../../../core/breakers/breaker.js";
import { type BreakerUser, breakersOf, type SharedBreakers } from "../../../core/breakers/breakers-of.js";
import type { NotifyRule } from "../../../core/model/definition.js";
import type { Notice } from "../../../core/notices/notice.js";
import { noticesFor } from "../../../core/notices/notices-of.js";
import { isFailureOf, type Noted } from "./breaker-notes.js";

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
