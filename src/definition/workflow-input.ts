import type { Backoff, FailurePolicy, InputDefinition } from "../core/definition.js";
import type { Json } from "../core/json.js";
import type { HTTP_METHODS } from "./action-fields.js";

/** Milliseconds, or text such as `30s`, `1h30m`, `PT5M`. */
export type DurationInput = number | string;
type OneOrMore<T> = T | readonly T[];
type Variables = { readonly [name: string]: string | number | boolean };

/** A workflow in TypeScript, with the keys of the file. */
export interface WorkflowInput {
  readonly version?: string;
  readonly name: string;
  readonly inputs?: { readonly [name: string]: InputDefinition["type"] | InputInput };
  readonly env?: Variables;
  readonly secrets?: readonly string[];
  readonly routing?: {
    readonly max_loops?: number;
    readonly defaults?: { readonly on_fail?: { readonly retry?: RetryInput } };
  };
  readonly failure_policy?: FailurePolicy;
  readonly max_recoveries?: number;
  readonly steps: { readonly [id: string]: StepInput };
}

export interface InputInput {
  readonly type?: InputDefinition["type"];
  readonly default?: Json;
  readonly required?: boolean;
  readonly description?: string;
}

export interface RetryInput {
  readonly max?: number;
  readonly backoff?: Backoff["mode"] | BackoffInput;
  readonly on?: readonly (string | number)[];
}

export interface BackoffInput {
  readonly mode?: Backoff["mode"];
  readonly delay_ms?: DurationInput;
  readonly max_delay_ms?: DurationInput;
  readonly jitter?: number;
}

export interface RoutingInput {
  readonly run?: OneOrMore<string>;
  readonly run_js?: string;
  readonly goto?: string;
  readonly goto_js?: string;
}

interface CommonStepInput {
  readonly depends_on?: OneOrMore<string>;
  readonly start?: "auto" | "routed";
  readonly if?: string | boolean;
  readonly env?: Variables;
  readonly cwd?: string;
  readonly timeout_ms?: DurationInput;
  readonly idle_timeout_ms?: DurationInput;
  readonly kill_grace_ms?: DurationInput;
  readonly continue_on_failure?: boolean;
  readonly forEach?: boolean;
  readonly fanout?: "map" | "reduce";
  readonly join?: "all" | "any" | { readonly at_least: number };
  readonly on_fail?: RoutingInput & { readonly retry?: RetryInput };
  readonly on_success?: RoutingInput;
  readonly outputs?: { readonly [key: string]: Json };
  readonly tags?: OneOrMore<string>;
  readonly group?: string;
}

export interface CommandStepInput extends CommonStepInput {
  readonly type?: "command";
  readonly exec: string | readonly (string | number)[];
  readonly stdin?: string;
}

export interface HttpStepInput extends CommonStepInput {
  readonly type: "http";
  readonly url: string;
  readonly method?: (typeof HTTP_METHODS)[number];
  readonly headers?: Variables;
  readonly body?: Json;
  readonly expect_status?: OneOrMore<number | string>;
}

export interface ScriptStepInput extends CommonStepInput {
  readonly type: "script";
  readonly content: string;
}

export interface NoopStepInput extends CommonStepInput {
  readonly type: "noop";
  readonly output?: Json;
}

/** A step of an action that the program registers itself; its own keys stand under `implementation`. */
export interface CustomStepInput extends CommonStepInput {
  readonly kind: string;
  readonly implementation: { readonly [key: string]: Json };
}

export type StepInput = CommandStepInput | HttpStepInput | ScriptStepInput | NoopStepInput | CustomStepInput;
