import { actionTraits } from "../model/action-traits.js";
import type { NoProgress } from "../model/events.js";
import type { Failure } from "../model/failure.js";
import type { GraphStep } from "../model/graph.js";
import type { Round } from "../model/heal-state.js";
import type { Job, Run } from "../model/run.js";
import type { RunCheckpoint } from "../model/workspace-state.js";
import { sha256Hex } from "../text/sha256.js";
import { mayJudge, neverCounts } from "./no-progress.js";
import { progressSignature } from "./signature.js";

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
