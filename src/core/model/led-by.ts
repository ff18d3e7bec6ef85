import { repairsInVisit } from "./definition.js";
import type { Output } from "./events.js";
import type { Failure } from "./failure.js";
import type { Job, Run } from "./run.js";

/** How a failure reaches a step: along a transition, by a goto, or because the step is in the run list of the one that failed. */
export type LedRoute = "edge" | "goto" | "remediate";

/** What a job's next attempt learns about the past. */
export interface WhatLedHere {
  /** The failure that its present visit is there for. */
  ledBy: LedBy | null;
  /** The JSON that its last failed attempt gave, in this visit. */
  failedOutput: Output | null;
  /** Its own last failure, in this visit or before a person had it run again; not of an attempt that was lost and is made again. */
  ownFailure: Failure | null;
  /** What has been repaired since its last failure. */
  repairs: readonly Repair[];
  /** Until a new visit begins, or somebody acts on it again: a job that has settled makes no attempt before that. */
  hint: Hint | null;
}

/** The failure that a step's visit is there for. */
export interface LedBy {
  readonly job: Job;
  readonly attempt: number;
  readonly route: LedRoute;
  /** The place of the transition; null: another route. */
  readonly edge: number | null;
  /** The first try was round 1. Of how many: null where nothing but max_loops bounds them. */
  readonly round: number;
  readonly rounds: number | null;
  readonly failure: Failure;
  /** The JSON that the failed attempt gave, if any. */
  readonly output: Output | null;
  /** How the rounds before this one ended, oldest first. */
  readonly earlier: readonly EarlierRound[];
  /** How often the step that failed had completed: once more, and its failure is over. */
  readonly completions: number;
}

export interface EarlierRound {
  readonly number: number;
  /** Null if its `if` failed before there was an attempt. */
  readonly attempt: number | null;
  readonly code: string;
  readonly signature: string;
  /** What the step that is asked again had changed before it; null: nothing, or it has no workspace. */
  readonly change: { readonly diffHash: string; readonly files: readonly string[] } | null;
}

/** What a repair was: a step of a run list, or the recovery script of a rule. */
export type Repair =
  | { readonly kind: "step"; readonly job: Job; readonly attempt: number }
  | { readonly kind: "script"; readonly script: string };

/** What a person or an agent tells a step for its next attempts, redacted, and who it was. */
export interface Hint {
  readonly text: string;
  readonly by: string;
  /** An attempt has begun since it was given. */
  readonly heard?: true;
}

/** The hint that comes with what somebody asks of a step; null: they said nothing to it. */
export function hintIn({ hint, by }: { readonly hint?: string; readonly by?: string }): Hint | null {
  return hint === undefined ? null : { text: hint, by: by ?? "somebody" };
}

/** Older rounds are in the log; a prompt has no room for more. */
const MAX_EARLIER_ROUNDS = 5;

/** The failure of `source`, as it comes to `target`, which is still in the visit before. Null: `source` has not failed. */
export function ledBy(run: Run, target: Job, source: Job, how: Pick<LedBy, "route" | "edge">): LedBy | null {
  const { error } = source;
  if (error === null) return null;
  const before = ledBefore(target, source);
  const rounds = roundOf(target, source, how.route, before);
  const earlier = before?.earlier ?? [];
  const number = Math.max((earlier.at(-1)?.number ?? 0) + 1, rounds.round - 1);
  return {
    job: source,
    attempt: error.attempt ?? 0,
    ...how,
    ...rounds,
    failure: error,
    output: source.failedOutput,
    earlier: [...earlier, endedRound(run, target, source, number, error)].slice(-MAX_EARLIER_ROUNDS),
    completions: source.history.length,
  };
}

/** What a person goes back to `target` for: where the step that led there has failed once more since, its last failure. */
export function ledByNow(run: Run, target: Job): LedBy | null {
  const led = openFailureOf(target);
  if (led === null || (led.job.error?.attempt ?? 0) === led.attempt) return target.ledBy;
  const { job, route, edge } = led;
  return ledBy(run, target, job, { route, edge }) ?? led;
}

/** The failure that the job's visit is there for, while the step that failed has not completed since. */
export function openFailureOf({ ledBy: led }: Job): LedBy | null {
  return led !== null && led.job.history.length === led.completions ? led : null;
}

/**
 * The number of the round. A limit of gotos and repairs does not count the first try; a transition has no limit, and
 * each visit is a round. An operator's grant restarts the limit, but not the rounds.
 */
function roundOf(
  target: Job,
  source: Job,
  route: LedRoute,
  before: LedBy | null,
): Pick<LedBy, "round" | "rounds"> {
  const { onFail } = source.step.definition;
  const bounded = (used: number, max: number | null) => {
    const round = Math.max(used, before?.round ?? 0) + 1;
    return { round, rounds: max === null ? null : round + max - used };
  };
  switch (route) {
    case "goto":
      return bounded(source.gotos.failure, onFail.gotoMax ?? null);
    case "remediate":
      return bounded(source.remediationsInVisit, repairsInVisit(onFail));
    case "edge":
      return bounded(target.entered ? target.visit : target.visit - 1, null);
  }
}

/** Why `target` is in the visit before, if that is the same step's failure. */
function ledBefore(target: Job, source: Job): LedBy | null {
  const led = openFailureOf(target);
  return led?.job === source ? led : null;
}

function endedRound(run: Run, target: Job, source: Job, number: number, error: Failure): EarlierRound {
  const { attempt, code, signature } = error;
  const made = run.workspace.checkpoints.findLast(
    ({ job, visit, superseded }) => job === target && visit === target.visit && !superseded,
  );
  const change =
    made?.diff_hash == null || target === source
      ? null
      : { diffHash: made.diff_hash, files: made.changed_files };
  return { number, attempt, code, signature, change };
}
