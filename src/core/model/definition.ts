import type { RunConcurrency } from "../groups/concurrency.js";
import type { ScheduleDefinition, WebhookDefinition } from "../schedule/triggers.js";
import type { Json } from "../text/json.js";
import type { Labels } from "../text/labels.js";
import type { SchedulerRequest } from "./batch/scheduler-request.js";
import type { UserData } from "./batch/user-data.js";
import { classesWith, type FailureClass } from "./failure.js";
import type { FilesPolicy } from "./files-policy.js";
import type { Resource } from "./resources.js";
import type { RouteEnd } from "./route.js";
import type { HoldExpiry, TimeLimits } from "./time-used.js";

/**
 * A workflow as the engine runs it: validated, normalised and frozen. `src/file` makes it from a file or from
 * the builder; it is plain JSON, so it can be stored by its hash and read back.
 */
export interface Definition {
  readonly name: string;
  readonly version: string | null;
  readonly description?: string;
  /** Whose workflow it is, in the words of its file. */
  readonly user?: string;
  /** Labels of every run, unless the user who starts one gives others. */
  readonly labels?: Labels;
  readonly inputs: { readonly [name: string]: InputDefinition };
  readonly env: { readonly [name: string]: string };
  /** Names of environment variables whose values are redacted everywhere. */
  readonly secrets: readonly string[];
  readonly maxLoops: number;
  readonly failurePolicy: FailurePolicy;
  /** Restarts after a lost worker, per visit. */
  readonly maxRecoveries: number;
  /** How many items the forEach steps of a run may have in total. */
  readonly maxItems: number;
  /** Limit for stdout and stderr of one attempt together. Further output is dropped. */
  readonly maxLogBytes: number;
  /** What becomes of a failure that no rung has answered: the job fails, or waits for somebody to decide. */
  readonly unhandled: "fail" | "hold";
  /** The expiry for steps without their own. If it is missing, a hold waits until somebody decides. */
  readonly hold?: HoldExpiry;
  readonly failureHandlers: readonly FailureHandler[];
  /** This workflow's own; steps may also use those of the settings. Missing: none. */
  readonly breakers?: readonly BreakerDefinition[];
  /** How long a run may take; missing: as long as it does. */
  readonly timeLimits?: TimeLimits;
  /** When it starts by itself once it is published; missing: never. */
  readonly schedules?: readonly ScheduleDefinition[];
  /** Notification rules. The settings may have more. By default none. */
  readonly notify?: readonly NotifyRule[];
  /** Its group may have templates, which are filled in when a run is made. Missing: any number of runs at a time. */
  readonly concurrency?: RunConcurrency;
  /** The priority of every run, unless the user who starts one gives another. By default 0. */
  readonly priority?: number;
  /** Steps that run when a run ends, in this order; missing: none. */
  readonly finally?: readonly string[];
  /** Which requests start it once it is published; missing: none. */
  readonly webhook?: WebhookDefinition;
  /** The git workspace of each run; null: steps work in the file's folder. */
  readonly workspace: WorkspaceDefinition | null;
  readonly selfHeal: SelfHeal | null;
  /** Null if no failure is put back into the queue. */
  readonly queue: QueuePolicy | null;
  /** What values that jobs read are until a job writes them. */
  readonly userData?: UserData;
  /** Set for the batch form: where its commands and relative paths start. Otherwise it has steps. */
  readonly batch?: BatchTraits;
  /** The order in which ready jobs start. By default the order in which they became ready. */
  readonly jobsSortMethod?: JobsSortMethod;
  /** Missing: attempts are not sampled. What they used in all is recorded anyway. */
  readonly resourceMonitor?: ResourceMonitor;
  /** In the order of the file. */
  readonly transitions: readonly Transition[];
  /** What steps ask of a batch system that they run on, by name. */
  readonly schedulers?: readonly SchedulerRequest[];
  /** In the order of the file. Everywhere else, a step is identified by its index here. */
  readonly steps: readonly StepDefinition[];
}

/**
 * `run`: where the run was started, as Torc does; on a server, and for a child, the file's folder unless another is given.
 * `workflow_file`: always the file's folder.
 */
export interface BatchTraits {
  readonly startsIn: "run" | "workflow_file";
}

/** The workspace as the file describes it. `ref` is resolved when a run begins. */
export interface WorkspaceDefinition {
  readonly repo: string;
  readonly ref: string;
  /** What becomes of the files that a lost or interrupted attempt has changed, when its step starts again. */
  readonly onLost: "set_aside" | "keep";
}

/** Budgets against steps that get stuck rather than fail. */
export interface SelfHeal {
  /** Attempts of a step in one round of the queue, the first included. */
  readonly stepMaxAttempts: number;
  readonly stepTimeoutMs: number;
  readonly stepIdleTimeoutMs: number;
  readonly stepNoProgressLimit: number;
  /** Hard resets in one run. */
  readonly maxResets: number;
}

/** How failures that nothing gentler has answered are put off and tried again from the checkpoints. */
export interface QueuePolicy {
  /** Rounds in all, the first included. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  readonly classes: readonly FailureClass[];
}

/** How the processes of attempts are watched over time. */
export interface ResourceMonitor {
  readonly sampleIntervalMs: number;
}

/** What counts most comes first; of each, the most first. */
export type JobsSortMethod = "gpus_runtime_memory" | "gpus_memory_runtime";
/** When something that many steps use counts as broken, and how it is tried again. */
export interface BreakerDefinition {
  readonly name: string;
  /** How many failures of these classes or codes within the time open it. */
  readonly failures: number;
  readonly withinMs: number;
  readonly classes: readonly string[];
  /** While it is open, one attempt is let through in each interval. */
  readonly probeEveryMs: number;
  /** After so long it stops nothing any more. */
  readonly maxOpenMs: number;
  /** Jobs a second that each engine lets go on once it is closed. */
  readonly releasePerSecond: number;
}

export const NOTICE_KINDS = [
  ...(["held", "failed", "handled", "completed", "dead_letter", "question"] as const),
  ...(["recovered", "deadline", "breaker", "quarantined"] as const),
] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

export interface NotifyRule {
  readonly on: readonly NoticeKind[];
  /** Names of channels of the settings. */
  readonly to: readonly string[];
  /** An expression over `notice`; null: always. */
  readonly when: string | null;
}

export type FailurePolicy = "finish_independent" | "fail_fast";

export interface InputDefinition {
  readonly type: "string" | "number" | "boolean" | "object" | "array" | "any";
  readonly required: boolean;
  readonly default: Json | null;
  readonly description: string | null;
  /** The values that it may have; missing: any of its type. */
  readonly enum?: readonly Json[];
}

export interface StepDefinition {
  readonly id: string;
  /** The name of its job in the batch form, with its parameters not filled in; missing: that makes no other step. */
  readonly family?: string;
  readonly description?: string;
  /** The action's kind and its own keys, templates not yet rendered: `{type: "command", exec: "npm ci"}`. */
  readonly action: ActionDefinition;
  /** All of these groups, any member of each: `[a, "b|c"]` is `[["a"], ["b", "c"]]`. */
  readonly dependsOn: readonly (readonly string[])[];
  /** It runs once they are all settled, however they ended; missing: once they are completed. */
  readonly needs?: "settled";
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
  /** The step that takes its success back if the run ends failed or canceled; missing: nothing does. */
  readonly undo?: string;
  /** Paths; a relative one starts at the workspace, else at the workflow file's folder. */
  readonly files?: { readonly inputs: readonly string[]; readonly outputs: readonly string[] };
  /** Names of the values that it reads and writes. */
  readonly userData?: {
    readonly inputs: readonly string[];
    readonly outputs: readonly string[];
    /** An output is made again in each run, so forks do not reuse it. */
    readonly ephemeral?: true;
  };
  /** No later run takes its result over; missing: one may. */
  readonly reuse?: false;
  /** An expression over the output of an attempt that succeeded: true makes a failure of it. */
  readonly failIf?: string;
  /** JSON Schema that the output must fit, or null. */
  readonly outputSchema: Json | null;
  readonly tags: readonly string[];
  /** Tags that a worker must have to run this step. */
  readonly runsOn: readonly string[];
  /** The file's request by which it runs on a batch system, where there is one. */
  readonly scheduler?: string;
  readonly group: string | null;
  /** Name of the failure handler whose rules answer this step's exit codes. */
  readonly failureHandler: string | null;
  /** Names of the breakers of what it cannot do without; missing: none. */
  readonly uses?: readonly string[];
  /** Missing: the workflow's. */
  readonly hold?: HoldExpiry;
  /** A shell command that reads a failed attempt's output on stdin and prints a summary of it. */
  readonly summarize: string | null;
  readonly resources: ResourceRequirements | null;
  /** It works in the run's workspace, where one step runs at a time. */
  readonly usesWorkspace: boolean;
  /** What counts as a sign of life for the idle timer: output alone, or changes of files in the workspace too. */
  readonly progress: "output" | "files";
  /** After how many failures without progress the step is stuck; null: it is not watched. */
  readonly noProgressLimit: number | null;
}

/** What a step needs of its worker. Beyond `memoryBytes` or `runtimeMs` the attempt is ended: class `resource`. */
export interface ResourceRequirements {
  readonly cpus: number;
  readonly memoryBytes: number | null;
  readonly runtimeMs: number | null;
  /** Graphics processors; missing: none. */
  readonly gpus?: number;
  /** Machines at once; missing: one. */
  readonly nodes?: number;
  /** Places among the jobs that its worker runs at a time; missing: as many as processors. */
  readonly slots?: number;
}

/** How long an attempt is thought to take where its step does not say: it is not begun with less time left. */
export const DEFAULT_RUNTIME_MS = 60_000;

export interface FailureHandler {
  readonly name: string;
  readonly rules: readonly FailureRule[];
}

/** Answers some exit codes, or all that no other rule of the handler names. */
export interface FailureRule {
  readonly exitCodes: readonly number[];
  readonly matchAll: boolean;
  /** A shell command line, run in the workflow file's folder before the job is ready again. */
  readonly recoveryScript: string | null;
  readonly recoveryTimeoutMs: number;
  /** Attempts in all, the first included (`max_retries` or `max_attempts` in the file). */
  readonly maxAttempts: number;
  /** How much more the next attempt gets of what the failed one has passed; missing: the rule raises nothing. */
  readonly scale?: Scale;
}

/** Factors by resource. A missing one is not raised. */
export type Scale = { readonly [resource in Resource]?: ScaleFactor };

export interface ScaleFactor {
  /** More than 1. */
  readonly factor: number;
  /** The maximum in bytes or milliseconds; null for no limit. */
  readonly max: number | null;
}

/** An edge from the end of one step to the start of another. */
export interface Transition {
  /** Its place in the list, from 1; those that are written in steps come after, in the order of the steps. */
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly on: "success" | "failure" | "any";
  readonly priority: number;
  readonly when: Condition | null;
  /** What happens to files if it leads back. By default `keep`. */
  readonly files?: FilesPolicy;
  /** For a transition on failure. Missing if the file does not say, which means `skip`. */
  readonly then?: RouteEnd;
  /** It is written in its step, as `on_fail.edge`, and not in the list. */
  readonly inStep?: true;
}

/** A test of the run's state: structured, or an expression for the sandbox. */
export type Condition =
  | { readonly type: "exists"; readonly field: string }
  | {
      readonly type: "comparison";
      readonly operator: ComparisonOperator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly type: "in_set"; readonly field: string; readonly values: readonly Json[] }
  | {
      readonly type: "array_length";
      readonly field: string;
      readonly operator: ComparisonOperator;
      readonly value: number;
    }
  | { readonly type: "and"; readonly conditions: readonly Condition[] }
  | { readonly type: "or"; readonly conditions: readonly Condition[] }
  | { readonly type: "not"; readonly condition: Condition }
  | { readonly type: "expression"; readonly code: string };

export type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=";

/** A field is a path such as `state._last_error.code`, `outputs.build.version`, `error.code`, `inputs.target`. */
export type Operand =
  | { readonly type: "field"; readonly path: string }
  | { readonly type: "literal"; readonly value: Json };

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
  /** Gotos that a job may take on this outcome, over all its visits; null (or missing, in old definitions): no bound. */
  readonly gotoMax: number | null;
  /** For `goto`. By default `keep` if the target is an agent, else `restore`. `gotoJs` always uses the default. */
  readonly gotoFiles?: FilesPolicy;
}

export interface FailureRouting extends Routing {
  readonly retry: RetryPolicy | null;
  /** Repairs by `run` and `runJs` together, per visit; missing: one. */
  readonly runMax?: number;
}

/** How often the steps of `on_fail.run` may repair the step in one visit. */
export function repairsInVisit({ run, runJs, runMax = DEFAULT_RUN_MAX }: FailureRouting): number {
  return run.length === 0 && runJs === null ? 0 : runMax;
}

export interface RetryPolicy {
  /** Retries after the first try, per visit. */
  readonly max: number;
  readonly backoff: Backoff;
  /** Codes or classes that alone are retried; empty: every retryable error. */
  readonly on: readonly string[];
  /** Where the next attempt should run: on the last one's worker or elsewhere. By default on another. */
  readonly onWorker?: (typeof ON_WORKER)[number];
}

export const ON_WORKER = ["other", "any", "same"] as const;
export const BACKOFF_MODES = ["none", "fixed", "linear", "exponential"] as const;

export interface Backoff {
  readonly mode: (typeof BACKOFF_MODES)[number];
  readonly delayMs: number;
  readonly maxDelayMs: number | null;
  /** 0..1; lengthens the delay by up to this share of it. */
  readonly jitter: number;
}

/** Limit for the code of one expression, in UTF-8. */
export const MAX_EXPRESSION_BYTES = 8 * 1024;
export const DEFAULT_MAX_LOOPS = 10;
export const DEFAULT_RUN_MAX = 1;
export const DEFAULT_MAX_RECOVERIES = 5;
export const DEFAULT_MAX_ITEMS = 100_000;
export const DEFAULT_MAX_LOG_BYTES = 1024 ** 3;
export const DEFAULT_KILL_GRACE_MS = 3_000;
export const DEFAULT_RECOVERY_TIMEOUT_MS = 300_000;
export const DEFAULT_RULE_ATTEMPTS = 3;
export const DEFAULT_SELF_HEAL: SelfHeal = {
  stepMaxAttempts: 3,
  stepTimeoutMs: 900_000,
  stepIdleTimeoutMs: 300_000,
  stepNoProgressLimit: 2,
  maxResets: 1,
};
export const DEFAULT_BREAKER: Omit<BreakerDefinition, "name"> = {
  failures: 5,
  withinMs: 600_000,
  classes: ["transient_runtime"],
  probeEveryMs: 120_000,
  maxOpenMs: 6 * 3_600_000,
  releasePerSecond: 10,
};
export const DEFAULT_QUEUE: QueuePolicy = {
  maxAttempts: 3,
  backoff: { mode: "exponential", delayMs: 15_000, maxDelayMs: 600_000, jitter: 0 },
  classes: classesWith("requeued"),
};
