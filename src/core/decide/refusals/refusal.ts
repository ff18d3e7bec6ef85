import type { Advice, ErrorCode } from "../../errors/errors.js";

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
