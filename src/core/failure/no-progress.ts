import type { NoProgress } from "../model/events.js";
import { type Failure, traitsOf } from "../model/failure.js";
import type { FailureMark, HealState } from "../model/heal-state.js";
import { progressSignature, type Signed } from "./signature.js";

/** How many failures it takes to see one that goes to and fro: A, B, A, B. */
const WINDOW = 4;

type Judged = Signed & Pick<Failure, "diff_hash">;

/**
 * Whether this failure reaches the limit: the streak of consecutive ones with the same signature and the same (or no)
 * changes, or A, B, A, B.
 */
export function judgeProgress(
  heal: HealState,
  failure: Judged & Pick<Failure, "retryable" | "final">,
  limit: number,
): NoProgress | null {
  if (!mayJudge(failure)) return null;
  const mark = markOf(failure);
  const streak = streakWith(heal, mark);
  const oscillation = goesToAndFro([...heal.recent, mark].slice(-WINDOW));
  return streak >= limit || oscillation ? { streak, limit, oscillation } : null;
}

/** What is not worth another try is never made to look so, and an outage tells nothing about the step. */
export function mayJudge(failure: Pick<Failure, "code" | "class" | "retryable" | "final">): boolean {
  return failure.retryable && !failure.final && !neverCounts(failure);
}

/** An outage tells nothing about the step's own progress: it neither counts nor ends a streak. */
export function noteFailure(heal: HealState, failure: Judged, noProgress: NoProgress | null): HealState {
  if (neverCounts(failure)) return { ...heal, noProgress: null };
  const mark = markOf(failure);
  return {
    ...heal,
    streak: streakWith(heal, mark),
    recent: [...heal.recent, mark].slice(-WINDOW),
    noProgress,
  };
}

/** A step that falls silent once may have waited for something; one that does so again is stuck. */
export function isIdleAgain({ idled }: HealState, { code }: Pick<Failure, "code">): boolean {
  return idled && code === "IDLE_TIMEOUT";
}

/** What any step remembers of a failure. Most fail once, and share the state of those that never did. */
export function noteBriefly(
  heal: HealState,
  { code }: Pick<Failure, "code">,
  noProgress: NoProgress | null,
): HealState {
  const idled = heal.idled || code === "IDLE_TIMEOUT";
  return idled === heal.idled && noProgress === heal.noProgress ? heal : { ...heal, idled, noProgress };
}

export function describeNoProgress({ streak, oscillation, rounds }: NoProgress): string {
  if (rounds) return `no progress: the same failure in ${streak} rounds, and the same files after each`;
  if (oscillation) return "no progress: two failures take turns";
  return streak === 1
    ? "no progress: one failure is the limit"
    : `no progress: the same failure ${streak} times, with the same changes or none`;
}

export function neverCounts({ code, class: failureClass }: Pick<Failure, "code" | "class">): boolean {
  return traitsOf(failureClass).lost || code === "NETWORK_ERROR" || /^(?:429|5\d\d)$/.test(code);
}

function markOf(failure: Judged): FailureMark {
  return { signature: progressSignature(failure), diffHash: failure.diff_hash };
}

function streakWith(heal: HealState, mark: FailureMark): number {
  const last = heal.recent.at(-1);
  const same =
    last !== undefined &&
    last.signature === mark.signature &&
    (last.diffHash === mark.diffHash || mark.diffHash === null);
  return same ? heal.streak + 1 : 1;
}

function goesToAndFro(window: readonly FailureMark[]): boolean {
  const [first, second, third, fourth] = window;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined)
    return false;
  return isSame(first, third) && isSame(second, fourth) && !isSame(first, second);
}

function isSame(one: FailureMark, other: FailureMark): boolean {
  return one.signature === other.signature && one.diffHash === other.diffHash;
}
