import type { Advice, ErrorCode } from "../../errors/errors.js";
import type { Job, Run } from "../../model/run.js";

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
