import { actionTraits } from "../model/action-traits.js";
import type { NoProgress } from "../model/events.js";
import { type Failure, traitsOf } from "../model/failure.js";
import type { GraphStep } from "../model/graph.js";
import type { FailureMark, HealState, Round } from "../model/heal-state.js";
import type { Job, Run } from "../model/run.js";
import type { RunCheckpoint } from "../model/workspace-state.js";
import { sha256Hex } from "../text/sha256.js";
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
function mayJudge(failure: Pick<Failure, "code" | "class" | "retryable" | "final">): boolean {
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

function neverCounts({ code, class: failureClass }: Pick<Failure, "code" | "class">): boolean {
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

/** Whether a loop goes round without effect: the failure says the same, and what was to mend it has left the same tree. */
export function judgeRounds(run: Run, { round }: Job, failure: Failure): NoProgress | null {
  const limit = run.definition.selfHeal?.stepNoProgressLimit;
  if (limit === undefined || round === null || !mayJudge(failure)) return null;
  const streak = streakOf(run, round, failure);
  // One round alone repeats nothing, whatever the limit.
  return streak >= Math.max(limit, 2) ? { streak, limit, oscillation: false, rounds: true } : null;
}

/** The failure of this job leads to these once more. */
export function beginRound(run: Run, { round, error }: Job, menders: readonly number[]): Round | null {
  if (!run.definition.selfHeal || error === null) return null;
  // An outage tells nothing about the rounds either.
  if (neverCounts(error)) return round;
  const after = run.workspace.checkpoints.at(-1)?.ordinal ?? 0;
  return {
    menders,
    after,
    signature: progressSignature(error),
    tree: treeAfter(run, menders, 0),
    streak: round === null ? 1 : streakOf(run, round, error),
  };
}

/** The loop would lead to a step that has mended nothing in the rounds before. */
export function isRoundInVain(
  { heal, round, scope }: Job,
  targets: readonly { readonly step: GraphStep }[],
): boolean {
  if (heal.noProgress?.rounds !== true || round === null) return false;
  return targets.every(({ step }) => round.menders.includes(scope.jobs.get(step)?.id ?? 0));
}

function streakOf(run: Run, round: Round, failure: Failure): number {
  const tree = treeAfter(run, round.menders, round.after);
  const isSame = tree !== null && tree === round.tree && progressSignature(failure) === round.signature;
  return isSame ? round.streak + 1 : 1;
}

/**
 * The tree right after the last repair: by a step that the loop leads to, or by an agent on the way from there. Trees
 * made of the same changes are equal. Null if none of these steps has left a checkpoint since `after`.
 */
function treeAfter({ workspace }: Run, menders: readonly number[], after: number): string | null {
  const line = workspace.checkpoints.filter(({ superseded }) => !superseded);
  const mends = ({ job, ordinal }: RunCheckpoint): boolean =>
    ordinal > after && (menders.includes(job.id) || actionTraits(job.step.definition.action.type).isPrompted);
  const last = line.findLastIndex(mends);
  if (last < 0) return null;
  const changes = line.slice(0, last + 1).flatMap(({ diff_hash: hash }) => (hash === null ? [] : [hash]));
  return sha256Hex(changes.join("\n"));
}
