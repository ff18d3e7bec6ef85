import type { Advice, ErrorCode } from "../../errors/errors.js";
import { hasTurnAtEnd, isUndone } from "../../model/ending/run-ending.js";
import { isOver, type Job, type Run } from "../../model/run.js";

/** Why an operator's command cannot be taken now. Without a hint the catalogue's advice for the code holds. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: Advice;
  /** The run has first to get on by itself, so the hint is for a run that somebody runs. */
  readonly waits?: true;
}

/** What is to be waited for never comes where nobody runs the run. `goesOn`: what its program has to do for it. */
export function refusedWhereNobodyRuns(runId: number, refusal: Refusal, goesOn: string | null): Refusal {
  if (refusal.waits !== true) return refusal;
  if (goesOn !== null) {
    const hint = `Nobody runs it: it ${goesOn}.`;
    return { ...refusal, hint: { typed: hint, asked: hint } };
  }
  return {
    ...refusal,
    hint: {
      typed: `Nobody runs it: \`daruma resume ${runId}\` continues it.`,
      asked: "Nobody runs it: control_run with action resume continues it.",
    },
  };
}

export function refuse(code: ErrorCode, message: string, hint?: Advice | string): Refusal {
  if (hint === undefined) return { code, message };
  return { code, message, hint: typeof hint === "string" ? { typed: hint, asked: hint } : hint };
}

/** Refused until something that is under way has ended. */
export function refuseUntil(code: ErrorCode, message: string, hint: string): Refusal {
  return { ...refuse(code, message, hint), waits: true };
}

/** The name to type for a job. In a branch of a fan-out, a step's id is not enough. */
export function typedName({ id, step, scope }: Job): string {
  return scope.parent === null ? step.definition.id : String(id);
}

export function scopeGone(run: Run, { step, scope }: Job): Refusal {
  return refuse("NOT_RETRYABLE", `${step.definition.id} belongs to ${scope.id}, which is gone`, {
    typed: `\`daruma jobs ${run.id}\` lists the current branches.`,
    asked: "list_jobs lists the current branches.",
  });
}

export function unknownJob(run: Run, id: number): Refusal {
  return refuse("STEP_NOT_FOUND", `run ${run.id} has no job ${id}`);
}

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
