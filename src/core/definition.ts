import type { Json } from "./json.js";

/**
 * A workflow as the engine runs it: validated, normalised and frozen. `src/definition` makes it from a file or from
 * the builder; it is plain JSON, so it can be stored by its hash and read back.
 */
export interface Definition {
  readonly name: string;
  readonly version: string | null;
  readonly inputs: { readonly [name: string]: InputDefinition };
  readonly env: { readonly [name: string]: string };
  /** Names of environment variables whose values are redacted everywhere. */
  readonly secrets: readonly string[];
  readonly maxLoops: number;
  readonly failurePolicy: FailurePolicy;
  /** Restarts after a lost worker, per visit. */
  readonly maxRecoveries: number;
  /** In file order; a step's place here is its index everywhere. */
  readonly steps: readonly StepDefinition[];
}

export type FailurePolicy = "finish_independent" | "fail_fast";

export interface InputDefinition {
  readonly type: "string" | "number" | "boolean" | "object" | "array" | "any";
  readonly required: boolean;
  readonly default: Json | null;
  readonly description: string | null;
}

export interface StepDefinition {
  readonly id: string;
  /** The action's kind and its own keys, templates not yet rendered: `{type: "command", exec: "npm ci"}`. */
  readonly action: ActionDefinition;
  /** All of these groups, any member of each: `[a, "b|c"]` is `[["a"], ["b", "c"]]`. */
  readonly dependsOn: readonly (readonly string[])[];
  /** `routed` steps run only when a run list names them. */
  readonly start: "auto" | "routed";
  readonly if: string | null;
  readonly env: { readonly [name: string]: string };
  readonly cwd: string | null;
  readonly timeoutMs: number | null;
  readonly idleTimeoutMs: number | null;
  readonly killGraceMs: number;
  readonly continueOnFailure: boolean;
  readonly forEach: boolean;
  readonly reduce: boolean;
  readonly join: Join;
  readonly onFail: FailureRouting;
  readonly onSuccess: Routing;
  /** JSON Schema that the output must fit, or null. */
  readonly outputSchema: Json | null;
  readonly tags: readonly string[];
  readonly group: string | null;
}

export interface ActionDefinition {
  readonly type: string;
  readonly [key: string]: Json;
}

export type Join =
  | { readonly kind: "all" }
  | { readonly kind: "any" }
  | { readonly kind: "at_least"; readonly count: number };

/** What a step routes to: `run` + `run_js`, then `goto_js` over `goto`. */
export interface Routing {
  readonly run: readonly string[];
  readonly runJs: string | null;
  readonly goto: string | null;
  readonly gotoJs: string | null;
}

export interface FailureRouting extends Routing {
  readonly retry: RetryPolicy | null;
}

export interface RetryPolicy {
  /** Retries after the first try, per visit. */
  readonly max: number;
  readonly backoff: Backoff;
  /** Codes or classes that alone are retried; empty: every retryable error. */
  readonly on: readonly string[];
}

export interface Backoff {
  readonly mode: "none" | "fixed" | "linear" | "exponential";
  readonly delayMs: number;
  readonly maxDelayMs: number | null;
  /** 0..1; lengthens the delay by up to this share of it. */
  readonly jitter: number;
}

export const DEFAULT_MAX_LOOPS = 10;
export const DEFAULT_MAX_RECOVERIES = 5;
export const DEFAULT_KILL_GRACE_MS = 3_000;
