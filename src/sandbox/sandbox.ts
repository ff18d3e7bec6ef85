import type { EvaluationResult } from "../core/model/events.js";
import type { Json } from "../core/text/json.js";
import type { Rendering } from "./render-step.js";

/** What a caller expects back; anything else is EXPRESSION_RESULT. */
export type ExpectedResult = "boolean" | "step_id_or_null" | "step_ids" | "json";

export interface Evaluation {
  /** A function body (`return ...`) or a single expression. */
  readonly code: string;
  /** Frozen for the code; only those that it names need be given. */
  readonly variables: { readonly [name: string]: Json };
  /** What `Date.now()` returns. */
  readonly now: number;
  readonly expects: ExpectedResult;
  /** Wall time after which the thread is terminated: `timeout_ms` of a script. Without it, two seconds of CPU time. */
  readonly deadlineMs?: number;
  /** CPU time for the code; by default 25 ms. */
  readonly budgetMs?: number;
  readonly signal?: AbortSignal;
}

/** For a script that threw an error, the place as well. */
export type SandboxResult = EvaluationResult & { readonly stack?: string };

/** Runs untrusted JavaScript and templates where it can do no harm. Never rejects: a failure is a refusal with its reason. */
export interface Sandbox {
  evaluate(evaluation: Evaluation): Promise<SandboxResult>;
  /** The value of the result is `Rendered`. */
  render(rendering: Rendering, signal?: AbortSignal): Promise<SandboxResult>;
  close(): Promise<void>;
}
