import type { EvaluationResult, Output, ScopeItem } from "./events.js";
import type { FailureFacts } from "./failure.js";

/** What happened outside, put to the core. Everything that is not here is a consequence that the core finds itself. */
export type Command =
  | { readonly type: "run.start" }
  /** A new owner has taken the run; attempts that were running are lost. */
  | { readonly type: "run.resume" }
  | { readonly type: "run.cancel"; readonly reason: string; readonly key: string | null }
  | { readonly type: "attempt.start"; readonly job: number; readonly worker: string; readonly token: string }
  | {
      readonly type: "attempt.finish";
      readonly job: number;
      readonly attempt: number;
      readonly result: AttemptResult;
      readonly durationMs: number;
    }
  | { readonly type: "timer.fire"; readonly job: number }
  | {
      readonly type: "evaluation.finish";
      readonly job: number;
      readonly id: number;
      readonly result: EvaluationResult;
    };

export type AttemptResult =
  /** `items` is given for an output that is an array. */
  | { readonly kind: "succeeded"; readonly output: Output; readonly items: readonly ScopeItem[] | null }
  | { readonly kind: "failed"; readonly facts: FailureFacts }
  /** The attempt was ended because the engine asked for it. */
  | { readonly kind: "stopped" };
