import { hasTurnAtEnd, isUndone } from "../../model/ending/run-ending.js";
import { isOver, type Job, type Run } from "../../model/run.js";
import { type Refusal, refuse, refuseUntil } from "./refusal.js";

/** What a run does before it ends goes on until somebody ends that, too. */
export function alreadyCanceled(run: Run, now: boolean): string | null {
  const { cancelRequested, ending } = run;
  if (now) {
    const isSo = cancelRequested?.now === true || (cancelRequested !== null && endsAtOnce(run));
    return isSo ? `run ${run.id} is being canceled` : null;
  }
  if (ending !== null)
    return `run ${run.id} is ending; \`cancel --now\` also ends its undo and finally steps`;
  return cancelRequested === null ? null : `run ${run.id} is being canceled`;
}

/** Nothing runs between a cancel and the end: nothing is to be undone, and there are no `finally` steps. */
export function endsAtOnce({ ending, undoable, definition }: Run): boolean {
  return ending === null && undoable.size === 0 && (definition.finally ?? []).length === 0;
}

/** What was undone cannot go on; a run that is ending must have ended first. Its undo and finally steps are not refused. */
export function refuseWhileEnding(run: Run, job: Job | null): Refusal | null {
  if (job !== null && hasTurnAtEnd(run, job)) return null;
  if (isUndone(run))
    return refuse("RUN_UNDONE", `run ${run.id} ${isOver(run) ? "was undone" : "is being undone"}`);
  if (run.ending !== null && !isOver(run))
    return refuseUntil(
      "RUN_OVER",
      "the run is ending: its `finally` steps are running",
      "Wait until they have ended; then retry a step.",
    );
  return refuseWhileCanceling(run);
}

/** What undoes or finishes a run has no place in it before. */
export function refuseAtEnd({ step }: Job): Refusal | null {
  if (step.atEnd === null) return null;
  const kind = step.atEnd === "undo" ? "an undo step" : "a `finally` step";
  return refuse(
    "NOT_RETRYABLE",
    `${step.definition.id} is ${kind}: it runs when the run ends`,
    "Retry a step that failed; it runs again when the run ends again.",
  );
}

export function refuseWhileCanceling(run: Run): Refusal | null {
  if (run.cancelRequested === null || run.ending !== null || isOver(run)) return null;
  return refuseUntil(
    "RUN_OVER",
    "the run is being canceled",
    "Wait until its processes have ended; then retry a step.",
  );
}

/**
 * Whether a job of the run's ending may run again. If it has its turn it does so by itself; if it did not complete, it
 * runs when the run ends again.
 */
export function mayRunAgainAtEnd(run: Run, job: Job): boolean {
  if (job.step.atEnd === null || hasTurnAtEnd(run, job)) return true;
  return isOver(run) && (job.status === "failed" || job.status === "canceled");
}
