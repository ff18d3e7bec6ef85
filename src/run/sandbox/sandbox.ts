import type { EvaluationResult } from "../../core/model/events.js";
import type { Json } from "../../core/text/json.js";
import type { Rendering } from "./render-step.js";

/** The type of result that a caller expects. Any other is refused as EXPRESSION_RESULT. */
export type ExpectedResult = "boolean" | "step_id_or_null" | "step_ids" | "json";

export interface Evaluation {
  /** A function body (`return ...`) or a single expression. */
  readonly code: string;
  /** The variables, frozen for the code. Only those that it names need be passed. */
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

/** A script that threw an error also has a stack. */
export type SandboxResult = EvaluationResult & { readonly stack?: string };

/** Runs untrusted JavaScript and templates in isolation. Never rejects: a failure is a refusal with a reason. */
export interface Sandbox {
  evaluate(evaluation: Evaluation): Promise<SandboxResult>;
  /** Renders a step's templates. The value of the result is a `Rendered`. */
  render(rendering: Rendering, signal?: AbortSignal): Promise<SandboxResult>;
  close(): Promise<void>;
}
