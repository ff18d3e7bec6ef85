import type {
  Backoff,
  ComparisonOperator,
  FailurePolicy,
  InputDefinition,
} from "../core/model/definition.js";
import type { FailureClass } from "../core/model/failure.js";
import type { Json } from "../core/text/json.js";
import type { HTTP_METHODS } from "./fields/action-fields.js";
import type { AgentProfileName, LlmProvider, PromptChannel } from "./fields/agent-fields.js";

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
  /** Names that a run's context gives, beside `pr` and `files`. */
  readonly context?: readonly string[];
  readonly routing?: {
    readonly max_loops?: number;
    readonly defaults?: { readonly on_fail?: OnFailInput };
  };
  readonly failure_policy?: FailurePolicy;
  readonly max_recoveries?: number;
  readonly max_items?: number;
  /** Bytes, or text such as `200m`. */
  readonly max_log?: number | string;
  /** `fail` if left out; `hold` in a workflow of `jobs`. */
  readonly unhandled?: "fail" | "hold";
  readonly failure_handlers?: readonly FailureHandlerInput[];
  readonly workspace?: {
    readonly repo?: string;
    readonly ref?: string;
    readonly on_lost?: "set_aside" | "keep";
  };
  /** `true` for the defaults. */
  readonly self_heal?: boolean | SelfHealInput;
  readonly queue?: QueueInput;
  readonly resource_requirements?: readonly (ResourcesInput & { readonly name: string })[];
  readonly transitions?: readonly TransitionInput[];
  /** A workflow has either steps or jobs. */
  readonly steps?: { readonly [id: string]: StepInput };
  readonly jobs?: readonly JobInput[];
}

/** Seconds as a number, or text such as `15m`. */
export interface SelfHealInput {
  readonly step_max_attempts?: number;
  readonly step_timeout_seconds?: DurationInput;
  readonly step_idle_timeout_seconds?: DurationInput;
  readonly step_no_progress_limit?: number;
  readonly job_self_heal_max_resets?: number;
}

export interface QueueInput {
  /** Rounds in all, the first included. */
  readonly max_attempts?: number;
  readonly backoff?: Backoff["mode"] | BackoffInput;
  readonly classes?: readonly FailureClass[];
}

export interface FailureHandlerInput {
  readonly name: string;
  readonly rules: readonly FailureRuleInput[];
}

export interface FailureRuleInput {
  readonly exit_codes?: OneOrMore<number>;
  readonly match_all_exit_codes?: boolean;
  readonly recovery_script?: string;
  readonly recovery_timeout_ms?: DurationInput;
  /** Attempts in all, the first included. */
  readonly max_attempts?: number;
  /** The same as `max_attempts`; give one of the two. */
  readonly max_retries?: number;
}

export interface ResourcesInput {
  readonly num_cpus?: number;
  /** `512m`, `2g`, or bytes. */
  readonly memory?: string | number;
  /** `PT30M`, `30m`. */
  readonly runtime?: string;
  readonly num_gpus?: 0;
  readonly num_nodes?: 1;
}

export interface TransitionInput {
  readonly from: string;
  readonly to: string;
  readonly on?: "success" | "failure" | "any";
  readonly priority?: number;
  /** A condition, or JavaScript. */
  readonly when?: ConditionInput | string;
}

type FieldInput = string | { readonly type: "field"; readonly path: string };
type OperandInput =
  | string
  | number
  | boolean
  | null
  | { readonly type: "field"; readonly path: string }
  | { readonly type: "literal"; readonly value: Json };

export type ConditionInput =
  | { readonly type: "exists"; readonly field: FieldInput }
  | {
      readonly type: "comparison";
      readonly operator: ComparisonOperator;
      readonly left: OperandInput;
      readonly right: OperandInput;
    }
  | { readonly type: "in_set"; readonly field: FieldInput; readonly values: readonly Json[] }
  | {
      readonly type: "array_length";
      readonly field: FieldInput;
      readonly operator: ComparisonOperator;
      readonly value: number;
    }
  | { readonly type: "and" | "or"; readonly conditions: readonly ConditionInput[] }
  | { readonly type: "not"; readonly condition: ConditionInput };

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
  readonly goto?: string | { readonly step: string; readonly max?: number };
  readonly goto_js?: string;
  /** Gotos that the step may take, whatever their target; not beside a `max` of `goto`. */
  readonly goto_max?: number;
}

export interface OnFailInput extends RoutingInput {
  readonly retry?: RetryInput;
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
  readonly on_fail?: OnFailInput;
  readonly on_success?: RoutingInput;
  readonly outputs?: { readonly [key: string]: Json };
  readonly tags?: OneOrMore<string>;
  readonly runs_on?: OneOrMore<string>;
  readonly group?: string;
  readonly failure_handler?: string;
  readonly summarize?: string;
  readonly workspace?: boolean;
  readonly progress?: "output" | "files";
  /** What the step needs of its worker, or the name of an entry of the workflow's list. */
  readonly resource_requirements?: string | ResourcesInput;
}

/** A job of the batch form: a command for every combination of its parameters. */
export interface JobInput extends Omit<CommonStepInput, "forEach" | "fanout" | "join"> {
  /** With parameters a pattern such as `train_{i:03d}`. */
  readonly name: string;
  readonly command: string;
  /** `1:3`, `0:100:10`, or a list. */
  readonly parameters?: { readonly [name: string]: string | number | readonly (string | number | boolean)[] };
  readonly parameter_mode?: "product" | "zip";
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
  readonly redirect_origins?: readonly string[];
}

export interface ScriptStepInput extends CommonStepInput {
  readonly type: "script";
  readonly content: string;
}

export interface NoopStepInput extends CommonStepInput {
  readonly type: "noop";
  readonly output?: Json;
}

export interface HumanStepInput extends CommonStepInput {
  readonly type: "human";
  readonly prompt: string;
  readonly choices?: readonly string[];
  /** The choices that fail the step. */
  readonly reject?: readonly string[];
}

export interface WorkflowStepInput extends CommonStepInput {
  readonly type: "workflow";
  readonly file: string;
  readonly inputs?: { readonly [name: string]: Json };
}

export interface AgentStepInput extends CommonStepInput {
  readonly type: "agent";
  readonly prompt: string;
  /** Needed unless there is a profile. */
  readonly exec?: string | readonly (string | number)[];
  readonly profile?: AgentProfileName;
  readonly prompt_via?: PromptChannel;
  readonly objective?: string;
}

export interface LlmCallStepInput extends CommonStepInput {
  readonly type: "llm_call";
  readonly provider: LlmProvider;
  readonly model: string;
  /** Needed for `openai-compatible`. */
  readonly base_url?: string;
  /** The name of the variable that holds the key. */
  readonly api_key_env?: string;
  readonly redirect_origins?: readonly string[];
  readonly system?: string;
  readonly prompt: string;
  readonly temperature?: number;
  readonly max_output_tokens?: number;
  readonly schema?: { readonly [key: string]: Json };
}

/** A step of an action that the program registers itself; its own keys stand under `implementation`. */
export interface CustomStepInput extends CommonStepInput {
  readonly kind: string;
  readonly implementation: { readonly [key: string]: Json };
}

export type StepInput =
  | CommandStepInput
  | HttpStepInput
  | ScriptStepInput
  | NoopStepInput
  | HumanStepInput
  | WorkflowStepInput
  | AgentStepInput
  | LlmCallStepInput
  | CustomStepInput;
