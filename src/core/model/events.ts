import type { Json } from "../text/json.js";
import type {
  Checkpoint,
  EdgeConsidered,
  EvaluationPurpose,
  EvaluationResult,
  FailureRoute,
  NoProgress,
  Output,
  ReadyReason,
  RecoveryOutcome,
  ReusedJob,
  RunCause,
  RungConsidered,
  RungName,
  RunOptions,
  ScopeItem,
  StopReason,
  TokenUsage,
  VisitRole,
} from "./event-parts.js";
import type { Failure } from "./failure.js";
import type { GotoEvent } from "./goto-events.js";
import type { HealEvent } from "./heal-events.js";
import type { OperatorEvent } from "./operator-events.js";

export type {
  Checkpoint,
  CheckpointFacts,
  EdgeConsidered,
  EvaluationPurpose,
  EvaluationResult,
  FailureRoute,
  HealStrategy,
  HoldAction,
  NoProgress,
  Output,
  ReadyReason,
  RecoveryOutcome,
  ResetTrigger,
  ReusedJob,
  RunCause,
  RungConsidered,
  RungName,
  RunOptions,
  ScopeItem,
  StopReason,
  TokenUsage,
  VisitRole,
  WorkspaceHome,
  WorkspaceNote,
} from "./event-parts.js";
export type { LoopTransition } from "./goto-events.js";

/**
 * Everything that can happen in a run. The log of these is the truth; `evolve` folds it into a `Run`, the tables are
 * projections of it. `job` and `jobs` are job ids; `attempt` counts from 1 in its job.
 */
export type Event =
  | {
      readonly type: "run.created";
      readonly workflow: string;
      readonly workflowId: number;
      readonly definitionHash: string;
      readonly inputs: { readonly [name: string]: Json };
      readonly context: { readonly [name: string]: Json };
      readonly options: RunOptions;
      readonly folder: string;
      readonly file: string | null;
      readonly parent: { readonly runId: number; readonly jobId: number } | null;
      /** Servers go on with it by themselves. */
      readonly managed: boolean;
      readonly cause?: RunCause;
      readonly failureHandlers: readonly { readonly name: string; readonly id: number }[];
    }
  | { readonly type: "run.started" }
  | {
      readonly type: "run.resumed";
      readonly lost: readonly { readonly job: number; readonly attempt: number }[];
    }
  | { readonly type: "run.held"; readonly jobs: readonly number[] }
  | {
      readonly type: "run.forked";
      readonly from: number;
      readonly step: string;
      readonly reason: string;
      readonly reuse: readonly ReusedJob[];
    }
  | { readonly type: "run.completed"; readonly handled: readonly number[] }
  | {
      readonly type: "run.failed";
      readonly code: string;
      readonly message: string;
      readonly unhandled: readonly number[];
    }
  | { readonly type: "run.canceled"; readonly reason: string }
  | {
      readonly type: "scopes.opened";
      readonly job: number;
      readonly generation: number;
      readonly items: readonly ScopeItem[];
    }
  | {
      readonly type: "scope.abandoned";
      readonly scope: string;
      readonly because: StopReason;
      readonly code: string;
      readonly reason: string;
      readonly canceled: readonly number[];
      readonly stopping: readonly number[];
    }
  | {
      readonly type: "join.decided";
      readonly job: number;
      readonly satisfied: boolean;
      readonly completed: number;
      readonly failed: number;
      readonly skipped: number;
      readonly handled: readonly number[];
    }
  | { readonly type: "jobs.ready"; readonly jobs: readonly number[]; readonly reason: ReadyReason }
  | { readonly type: "jobs.skipped"; readonly jobs: readonly number[]; readonly reason: string }
  | {
      readonly type: "jobs.canceled";
      readonly jobs: readonly number[];
      readonly code: string;
      readonly reason: string;
    }
  | {
      readonly type: "jobs.stopping";
      readonly jobs: readonly number[];
      readonly because: StopReason;
      readonly reason: string;
    }
  | { readonly type: "job.created"; readonly job: number; readonly step: string; readonly scope: string }
  | { readonly type: "job.released"; readonly job: number }
  | {
      readonly type: "job.failed";
      readonly job: number;
      readonly code: string;
      readonly message: string;
      readonly handled: "continue_on_failure" | null;
      readonly partOf: number | null;
      readonly routed: boolean;
    }
  | {
      readonly type: "job.reused";
      readonly job: number;
      readonly output: Output;
      readonly items: readonly ScopeItem[] | null;
    }
  | { readonly type: "job.held"; readonly job: number; readonly code: string; readonly message: string }
  | {
      readonly type: "routes.settled";
      readonly handled: readonly number[];
      readonly unhandled: readonly number[];
    }
  | { readonly type: "visit.requested"; readonly job: number; readonly by: number; readonly role: VisitRole }
  | {
      readonly type: "visit.entered";
      readonly job: number;
      readonly visit: number;
      readonly by: number;
      readonly role: VisitRole;
    }
  | {
      readonly type: "visit.left";
      readonly job: number;
      readonly by: number;
      readonly role: VisitRole;
      readonly ok: boolean;
    }
  | {
      readonly type: "attempt.started";
      readonly job: number;
      readonly attempt: number;
      readonly visit: number;
      readonly worker: string;
      readonly token: string;
    }
  | {
      readonly type: "attempt.succeeded";
      readonly job: number;
      readonly attempt: number;
      readonly output: Output;
      readonly items: readonly ScopeItem[] | null;
      readonly checkpoint: Checkpoint | null;
      /** Of a model call. */
      readonly usage?: TokenUsage;
      readonly durationMs: number;
    }
  | {
      readonly type: "attempt.failed";
      readonly job: number;
      readonly attempt: number;
      readonly error: Failure;
      readonly noProgress: NoProgress | null;
      readonly durationMs: number;
    }
  | {
      readonly type: "attempt.stopped";
      readonly job: number;
      readonly attempt: number;
      readonly because: StopReason;
      readonly durationMs: number;
    }
  /** The step's `if` could not be evaluated: a failure without an attempt, which climbs as any other. */
  | { readonly type: "if.failed"; readonly job: number; readonly error: Failure }
  /** `attempt` is 0, here and in what follows from it, where the step's `if` failed before there was one. */
  | {
      readonly type: "ladder.climbed";
      readonly job: number;
      readonly attempt: number;
      readonly rung: RungName;
      readonly considered: readonly RungConsidered[];
      readonly recovery: RecoveryOutcome | null;
      readonly failureRoute: FailureRoute | null;
    }
  | {
      readonly type: "restart.granted";
      readonly job: number;
      readonly attempt: number;
      readonly recovery: number;
      readonly limit: number;
    }
  | {
      readonly type: "rule.reserved";
      readonly job: number;
      readonly attempt: number;
      readonly next: number;
      readonly handler: string;
      readonly rule: number;
      readonly exitCode: number | null;
      readonly maxAttempts: number;
      readonly script: string | null;
    }
  | {
      readonly type: "recovery.started";
      readonly job: number;
      readonly attempt: number;
      readonly try: number;
      readonly token: string;
    }
  /** Its engine stopped in good order and has ended it: it begins again, and this start counts for nothing. */
  | { readonly type: "recovery.interrupted"; readonly job: number; readonly attempt: number }
  | {
      readonly type: "recovery.finished";
      readonly job: number;
      readonly attempt: number;
      readonly ok: boolean;
      readonly exitCode: number | null;
      readonly message: string;
      readonly durationMs: number;
    }
  | {
      readonly type: "human.asked";
      readonly job: number;
      readonly attempt: number;
      readonly prompt: string;
      readonly choices: readonly string[];
      readonly dueAt: number | null;
    }
  | {
      readonly type: "edge.taken";
      readonly job: number;
      readonly attempt: number;
      readonly edge: number;
      readonly target: number;
      readonly to: string;
      readonly on: "success" | "failure";
      readonly status: "selected" | "already_scheduled";
      readonly counted: boolean;
      /** Which loop of the scope it is, if it counts as one. Missing in older logs. */
      readonly loop?: number | null;
      readonly considered: readonly EdgeConsidered[];
    }
  | {
      readonly type: "retry.scheduled";
      readonly job: number;
      readonly attempt: number;
      readonly retry: number;
      readonly max: number;
      readonly delayMs: number;
      readonly dueAt: number;
      readonly reason: string;
    }
  | HealEvent
  | GotoEvent
  | OperatorEvent
  | {
      readonly type: "remediation.started";
      readonly job: number;
      readonly attempt: number;
      readonly steps: readonly string[];
      readonly jobs: readonly number[];
      readonly reason: string;
    }
  | {
      readonly type: "remediation.finished";
      readonly job: number;
      readonly ok: boolean;
      readonly failedStep: string | null;
      /** Which loop of the scope the re-attempt is; null without one. Missing in older logs. */
      readonly loop?: number | null;
    }
  | {
      readonly type: "follow_up.started";
      readonly job: number;
      readonly steps: readonly string[];
      readonly jobs: readonly number[];
      readonly reason: string;
    }
  | {
      readonly type: "follow_up.finished";
      readonly job: number;
      readonly ok: boolean;
      readonly failedStep: string | null;
    }
  | {
      readonly type: "evaluation.requested";
      readonly id: number;
      readonly job: number;
      readonly purpose: EvaluationPurpose;
      readonly considered: readonly RungConsidered[];
      readonly code: string | null;
    }
  | {
      readonly type: "evaluation.finished";
      readonly id: number;
      readonly job: number;
      readonly purpose: EvaluationPurpose;
      readonly result: EvaluationResult;
    };

export type EventType = Event["type"];
/** An event as it stands in the log. `at` is milliseconds since the epoch. */
export interface LoggedEvent {
  readonly seq: number;
  readonly at: number;
  readonly event: Event;
}
