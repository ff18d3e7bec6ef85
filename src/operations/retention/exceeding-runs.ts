import { durationAmount, sizeText } from "../../core/text/amount-text.js";
import { LAST_TIME } from "../../core/text/iso-time.js";
import type { FinalStatus, RetentionRule } from "../../file/settings/retention.js";

/** A run that is over, as far as it matters for how long it is kept. */
export interface EndedRun {
  readonly id: number;
  readonly workflow: string;
  readonly status: FinalStatus;
  readonly finishedAt: number;
}

export interface Exceeding<Run extends EndedRun = EndedRun> {
  readonly run: Run;
  /** Which bound it exceeds, for people. */
  readonly because: string;
}

const DAY_MS = 86_400_000;

/**
 * The runs that are beyond a bound of the rule. `runs` come in the order in which they ended, the newest first. Those that
 * must stay count all the same: they take their place among the last ones, and their room.
 */
export function exceedingRuns<Run extends EndedRun>(
  runs: readonly Run[],
  rule: RetentionRule,
  {
    now,
    bytesOf,
    mustStay,
  }: {
    readonly now: number;
    readonly bytesOf: (run: Run) => number;
    /** Asked only of those that are beyond a bound. */
    readonly mustStay: (run: Run) => boolean;
  },
): Exceeding<Run>[] {
  const found: Exceeding<Run>[] = [];
  const seen = new Map<string, number>();
  let bytes = 0;
  // What is older than the first that did not fit goes too: else a small old run would outlive a large new one.
  let isFull = false;
  for (const run of runs) {
    if (!rule.status.includes(run.status)) continue;
    const place = (seen.get(run.workflow) ?? 0) + 1;
    seen.set(run.workflow, place);
    const because = whyOld(run, rule, now) ?? whyMany(place, run, rule);
    const size = rule.maxBytes === null ? 0 : bytesOf(run);
    if (because === null) isFull ||= rule.maxBytes !== null && bytes + size > rule.maxBytes;
    if ((because === null && !isFull) || mustStay(run)) bytes += size;
    else found.push({ run, because: because ?? `all files together exceed ${sizeText(rule.maxBytes!)}` });
  }
  return found;
}

function whyOld({ finishedAt }: EndedRun, { olderThanMs }: RetentionRule, now: number): string | null {
  if (olderThanMs === null) return null;
  // A time that nothing can happen at is no reason to keep a run forever.
  if (finishedAt >= now - olderThanMs && finishedAt <= LAST_TIME) return null;
  return `it ended more than ${ageText(olderThanMs)} ago`;
}

function whyMany(place: number, { workflow }: EndedRun, { keepLast }: RetentionRule): string | null {
  if (keepLast === null || place <= keepLast) return null;
  return `${workflow} has ${keepLast} newer ${keepLast === 1 ? "run" : "runs"}`;
}

export function ageText(ms: number): string {
  return ms >= DAY_MS && ms % DAY_MS === 0 ? `${ms / DAY_MS} d` : durationAmount(ms);
}
