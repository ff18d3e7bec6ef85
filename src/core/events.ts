import type { Failure } from "./failure.js";
import type { Json } from "./json.js";

/** What `daruma run` overrides for one run; frozen with it. */
export interface RunOptions {
  readonly maxLoops: number | null;
  readonly retryMax: number | null;
  readonly failureRouting: boolean;
  /** Single-step mode: exactly one attempt of this step, nothing else is scheduled. */
  readonly only: string | null;
}

export type RungName =
  | "stop"
  | "restart"
  | "rule"
  | "retry"
  | "reset"
  | "remediate"
  | "goto"
  | "edge"
  | "requeue"
  | "hold"
  | "fail";

export interface RungConsidered {
  readonly rung: RungName;
  readonly applied: boolean;
  readonly reason: string;
}

export type EvaluationPurpose =
  | "if"
  | "on_fail.run_js"
  | "on_fail.goto_js"
  | "on_success.run_js"
  | "on_success.goto_js";

/** A result of the sandbox: a value of the right type, or the reason why there is none. */
export type EvaluationResult =
  | { readonly ok: true; readonly value: Json; readonly durationMs: number }
  | { readonly ok: false; readonly code: string; readonly reason: string; readonly durationMs: number };

/** An output small enough for the log, or a pointer to the artifact that holds it with its first part. */
export type Output =
  | { readonly kind: "value"; readonly value: Json }
  | {
      readonly kind: "artifact";
      readonly path: string;
      readonly bytes: number;
      readonly sha256: string;
      readonly preview: string;
    };

export interface ScopeItem {
  readonly key: string;
}

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
    }
  | { readonly type: "run.started" }
  | {
      readonly type: "run.resumed";
      readonly lost: readonly { readonly job: number; readonly attempt: number }[];
    }
  | { readonly type: "run.cancel_requested"; readonly reason: string; readonly key: string | null }
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
      readonly durationMs: number;
    }
  | {
      readonly type: "attempt.failed";
      readonly job: number;
      readonly attempt: number;
      readonly error: Failure;
      readonly durationMs: number;
    }
  | {
      readonly type: "attempt.stopped";
      readonly job: number;
      readonly attempt: number;
      readonly because: StopReason;
      readonly durationMs: number;
    }
  | {
      readonly type: "ladder.climbed";
      readonly job: number;
      readonly attempt: number;
      readonly rung: RungName;
      readonly considered: readonly RungConsidered[];
    }
  | {
      readonly type: "restart.granted";
      readonly job: number;
      readonly attempt: number;
      readonly recovery: number;
      readonly limit: number;
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
      readonly type: "goto.taken";
      readonly job: number;
      readonly attempt: number;
      readonly target: number;
      readonly to: string;
      readonly trigger: "failure" | "success";
      readonly loop: number;
      readonly reason: string;
    }
  | {
      readonly type: "barrier.opened";
      readonly barrier: number;
      readonly target: number;
      readonly members: readonly number[];
      readonly merged: readonly number[];
    }
  | {
      readonly type: "barrier.closed";
      readonly barrier: number;
      readonly invalidated: readonly number[];
      readonly retired: readonly number[];
    }
  | {
      readonly type: "loop.exceeded";
      readonly job: number;
      readonly scope: string;
      readonly transition: "retry" | "remediate" | "goto" | "on_success.goto";
      readonly count: number;
      readonly max: number;
    }
  | {
      readonly type: "evaluation.requested";
      readonly id: number;
      readonly job: number;
      readonly purpose: EvaluationPurpose;
      readonly considered: readonly RungConsidered[];
    }
  | {
      readonly type: "evaluation.finished";
      readonly id: number;
      readonly job: number;
      readonly purpose: EvaluationPurpose;
      readonly result: EvaluationResult;
    };

export type ReadyReason = "start" | "dependencies" | "restart" | "retry" | "remediation" | "goto" | "routed";
export type StopReason = "superseded" | "canceled" | "fail_fast" | "loop_budget";
/** Why a run list entered a job: to repair the job that asked, or to follow its success. */
export type VisitRole = "remediation" | "follow_up";

export type EventType = Event["type"];
/** An event as it stands in the log. `at` is milliseconds since the epoch. */
export interface LoggedEvent {
  readonly seq: number;
  readonly at: number;
  readonly event: Event;
}
