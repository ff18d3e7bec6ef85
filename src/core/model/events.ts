import type { RunConcurrency } from "../groups/concurrency.js";
import type { Json } from "../text/json.js";
import type { Labels } from "../text/labels.js";
import type { UserData } from "./batch/user-data.js";
import type { Failure } from "./failure.js";
import type { Raise } from "./resources.js";
import type { Placed } from "./worker-names.js";

/**
 * Everything that can happen in a run. The log of these is the truth; `evolve` folds it into a `Run`, the tables are
 * projections of it. `job` and `jobs` are job ids; `attempt` counts from 1 in its job.
 */
export type Event =
  | {
      readonly type: "run.created";
      readonly workflow: string;
      readonly workflow_id: number;
      readonly definition_hash: string;
      readonly inputs: { readonly [name: string]: Json };
      readonly context: { readonly [name: string]: Json };
      readonly options: RunOptions;
      readonly folder: string;
      readonly file: string | null;
      readonly parent: { readonly run_id: number; readonly job_id: number } | null;
      /** Servers go on with it by themselves. */
      readonly managed: boolean;
      readonly cause?: RunCause;
      readonly labels?: Labels;
      /** Its group, with templates filled in. A child run has none: its top-level run has the place. */
      readonly concurrency?: RunConcurrency;
      readonly priority?: number;
      readonly failure_handlers: readonly { readonly name: string; readonly id: number }[];
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
      /** Where it begins to do things again; missing: wherever something has changed since. */
      readonly step?: string;
      readonly reason: string;
      readonly reuse: readonly ReusedJob[];
    }
  /** It would end like this: what it has done is undone and its `finally` steps run before. */
  | {
      readonly type: "run.ending";
      readonly status: "completed" | "failed" | "canceled";
      readonly code: string | null;
      readonly message: string;
    }
  /** These have completed and are to be undone, in this order. */
  | { readonly type: "undo.started"; readonly jobs: readonly number[] }
  /** `job` has a visit to undo `of`. */
  | { readonly type: "undo.entered"; readonly job: number; readonly visit: number; readonly of: number }
  | { readonly type: "undo.left"; readonly job: number; readonly of: number; readonly undone: boolean }
  | { readonly type: "finally.entered"; readonly job: number; readonly visit: number }
  | { readonly type: "run.completed"; readonly handled: readonly number[] }
  | {
      readonly type: "run.failed";
      readonly code: string;
      readonly message: string;
      readonly unhandled: readonly number[];
    }
  /** `code`: why, where it was not a person's wish. */
  | { readonly type: "run.canceled"; readonly reason: string; readonly code?: string }
  /** From now on the time of the run counts, until these moments. */
  | { readonly type: "time.counted"; readonly deadline_at: number | null; readonly warn_at: number | null }
  /** It is paused or held; so much of its time is used. */
  | { readonly type: "time.stopped"; readonly used_ms: number }
  | { readonly type: "time.warned"; readonly after_ms: number }
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
  | {
      readonly type: "jobs.skipped";
      readonly jobs: readonly number[];
      /** Older logs have none. */
      readonly because?: SkipCause;
      readonly reason: string;
    }
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
      readonly part_of: number | null;
      readonly routed: boolean;
    }
  | {
      readonly type: "job.reused";
      readonly job: number;
      readonly output: Output;
      readonly items: readonly ScopeItem[] | null;
      readonly user_data?: UserData;
      /** Missing in older logs. */
      readonly origin?: AttemptElsewhere;
    }
  | {
      readonly type: "job.held";
      readonly job: number;
      readonly code: string;
      readonly message: string;
      /** When nobody has decided by then, this is done. Missing: it waits. */
      readonly due_at?: number;
      readonly due_action?: HoldAction;
    }
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
      readonly node?: string | null;
      readonly allocation?: string | null;
      readonly restart?: number | null;
      /** Why there, where that is not the room alone. */
      readonly placed?: Placed;
      /** A job whose failure had the tree, and which a breaker keeps back: it has let go of it. */
      readonly kept_back?: number;
    }
  | ({
      readonly type: "attempt.succeeded";
      readonly job: number;
      readonly attempt: number;
      readonly output: Output;
      readonly items: readonly ScopeItem[] | null;
      readonly checkpoint: Checkpoint | null;
      /** Of a model call. */
      readonly usage?: TokenUsage;
      /** Of a step that declares any: inputs as they were before it began, outputs as it left them. */
      readonly files?: readonly FileFacts[];
      /** Of a job that writes any. */
      readonly user_data?: UserData;
    } & AttemptCost)
  | ({
      readonly type: "attempt.failed";
      readonly job: number;
      readonly attempt: number;
      readonly error: Failure;
      readonly no_progress: NoProgress | null;
      /** These were open for failures of its class: it is no sign of missing progress. */
      readonly breakers?: readonly string[];
    } & AttemptCost)
  | ({
      readonly type: "attempt.stopped";
      readonly job: number;
      readonly attempt: number;
      readonly because: StopReason;
    } & AttemptCost)
  /** The step's `if` could not be evaluated: a failure without an attempt, which climbs as any other. */
  | { readonly type: "if.failed"; readonly job: number; readonly error: Failure }
  /** `attempt` is 0, here and in what follows from it, where the step's `if` failed before there was one. */
  | {
      readonly type: "ladder.climbed";
      readonly job: number;
      readonly attempt: number;
      readonly rung: RungName;
      readonly considered: readonly RungConsidered[];
      readonly recovery: HandlerOutcome | null;
      readonly failure_route: FailureRoute | null;
    }
  | {
      readonly type: "restart.granted";
      readonly job: number;
      readonly attempt: number;
      readonly recovery: number;
      readonly limit: number;
    }
  /** The job waits for these breakers, and its attempt counts for nothing. */
  | {
      readonly type: "job.parked";
      readonly job: number;
      readonly attempt: number;
      readonly breakers: readonly string[];
    }
  /** They go on; with `spent` their failures climb on and count as any other. */
  | {
      readonly type: "jobs.unparked";
      readonly jobs: readonly number[];
      readonly breaker: string;
      readonly because: UnparkReason;
    }
  | {
      readonly type: "rule.reserved";
      readonly job: number;
      readonly attempt: number;
      readonly next: number;
      readonly handler: string;
      readonly rule: number;
      readonly exit_code: number | null;
      readonly max_attempts: number;
      readonly script: string | null;
      /** What the failed attempt has passed: the job has more of it from now on. */
      readonly raised?: Raise;
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
      readonly exit_code: number | null;
      readonly message: string;
      readonly duration_ms: number;
    }
  | {
      readonly type: "human.asked";
      readonly job: number;
      readonly attempt: number;
      readonly prompt: string;
      readonly choices: readonly string[];
      readonly due_at: number | null;
      /** What counts as the answer when there is none by then. Missing: the attempt fails. */
      readonly choose?: string;
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
      readonly delay_ms: number;
      readonly due_at: number;
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
      readonly failed_step: string | null;
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
      readonly failed_step: string | null;
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

/** The events of workspaces, hard resets and the queue. */
export type HealEvent =
  | {
      readonly type: "reset.reserved";
      readonly job: number;
      readonly attempt: number;
      readonly trigger: ResetTrigger;
      /** Of the run's hard resets; null where it costs none. */
      readonly reset: number | null;
      readonly max: number | null;
      readonly reason: string;
      readonly key: string | null;
      readonly by?: string;
    }
  | {
      readonly type: "requeue.scheduled";
      readonly job: number;
      readonly attempt: number;
      readonly requeue: number;
      readonly max: number;
      readonly delay_ms: number;
      readonly due_at: number;
      readonly reason: string;
    }
  | {
      readonly type: "job.dead_lettered";
      readonly job: number;
      readonly attempt: number;
      readonly code: string;
      readonly queue_attempts: number;
    }
  | ({
      readonly type: "workspace.opened";
      readonly commit: string;
      /** Where the commit has submodules: the one that holds their files, and that changes are counted from. */
      readonly base?: string;
      readonly path: string;
      readonly notes?: readonly WorkspaceNote[];
    } & Partial<WorkspaceHome>)
  /** Another server has built it from the checkpoints in an output folder of its own, where steps work from now on. */
  | ({
      readonly type: "workspace.moved";
      readonly path: string;
      readonly moved?: readonly MovedCheckpoint[];
    } & WorkspaceHome)
  /** A server could not have the workspace, and leaves the run to one that can. */
  | { readonly type: "workspace.left"; readonly host: string; readonly message: string }
  | {
      readonly type: "rebuild.started";
      readonly rebuild: number;
      /** The job that is to go on in it; for a goto, its target. */
      readonly job: number;
      readonly barrier: number | null;
      readonly try: number;
      /** Ordinals of the checkpoints to replay, in order. */
      readonly replay: readonly number[];
      /** What lies in the workspace that a goto is about to replace; it is kept as a patch where that is possible. */
      readonly leftover?: AttemptName | null;
    }
  | {
      readonly type: "rebuild.finished";
      readonly rebuild: number;
      readonly job: number;
      readonly ok: boolean;
      readonly path: string | null;
      readonly message: string;
      /** What replayed checkpoints are called in it; where none is named, as before. */
      readonly moved?: readonly MovedCheckpoint[];
      readonly partial?: KeptLeftover | null;
      readonly duration_ms: number;
    }
  | {
      /** What an attempt left goes into a patch, and the tree back to the last checkpoint. */
      readonly type: "set_aside.started";
      readonly job: number;
      readonly attempt: number;
      /** The job that is to start there. */
      readonly for: number;
      /** The fresh workspace in which it lies; null: the run's own. */
      readonly rebuild: number | null;
      readonly try: number;
      /** A job whose failure had the tree, and which a breaker keeps back. */
      readonly kept_back?: number;
    }
  | {
      readonly type: "set_aside.finished";
      readonly job: number;
      readonly attempt: number;
      readonly for: number;
      readonly ok: boolean;
      /** Relative to the run's folder; null where nothing was left. */
      readonly patch: string | null;
      readonly files: number;
      readonly message: string;
      readonly duration_ms: number;
    }
  | {
      readonly type: "workspace.promoted";
      readonly rebuild: number;
      readonly job: number;
      readonly path: string;
    }
  | {
      readonly type: "workspace.discarded";
      readonly rebuild: number;
      readonly job: number;
      readonly path: string | null;
      readonly reason: string;
    };

/** Going back, by a failure, a success or an operator, and the end of going back. */
type GotoEvent =
  | {
      readonly type: "goto.taken";
      readonly job: number;
      readonly attempt: number;
      readonly target: number;
      readonly to: string;
      readonly trigger: "failure" | "success";
      /** Which goto of the job after this outcome it is, and how many it may take; older logs do not say. */
      readonly goto?: number;
      readonly max?: number | null;
      /** Which loop of the scope it is. */
      readonly loop: number;
      readonly reason: string;
    }
  | {
      readonly type: "operator.goto";
      readonly target: number;
      readonly to: string;
      /** The target and all that depends on it: they begin again, with their gotos. Missing in older logs. */
      readonly jobs?: readonly number[];
      readonly reason: string;
      readonly key: string | null;
      readonly by?: string;
    }
  | {
      readonly type: "barrier.opened";
      readonly barrier: number;
      readonly target: number;
      readonly forced: boolean;
      readonly from: number | null;
      readonly edge: number | null;
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
      readonly transition: LoopTransition;
      /** What was compared with `max`: loops of the scope, and for a retry the retries of this job in this run too. */
      readonly count: number;
      /** The retries among `count`; missing in older logs. */
      readonly retries?: number;
      readonly max: number;
    };

/**
 * The first event of what an operator asked for has its key, by which the same command is known again. `by` is who asked:
 * the name of a token, `command line`, an agent. Older logs do not say.
 */
type OperatorEvent =
  | {
      readonly type: "run.cancel_requested";
      readonly reason: string;
      readonly key: string | null;
      /** Missing: somebody wished it. */
      readonly code?: string;
      /** Nothing is undone, and no `finally` step runs. */
      readonly now?: true;
      readonly by?: string;
    }
  | {
      readonly type: "run.paused";
      readonly reason: string;
      readonly key: string | null;
      readonly by?: string;
      readonly takeover: boolean;
    }
  | {
      readonly type: "run.unpaused";
      readonly reason: string;
      readonly key: string | null;
      readonly by?: string;
    }
  | {
      readonly type: "run.reopened";
      readonly reason: string;
      readonly key: string | null;
      readonly by?: string;
    }
  | {
      readonly type: "hold.resolved";
      readonly job: number;
      readonly action: HoldAction;
      readonly reason: string;
      readonly key: string | null;
      readonly by?: string;
      /** Nobody decided in time. */
      readonly expired?: true;
      readonly output: Output | null;
      readonly items: readonly ScopeItem[] | null;
    }
  | {
      readonly type: "jobs.retried";
      readonly jobs: readonly number[];
      readonly reblocked: readonly number[];
      readonly action: RetriedBy;
      /** What some of them have more of from now on. */
      readonly raised?: readonly JobRaise[];
      /** Attempts in all that the job may have: whatever would begin another after that does not. */
      readonly max_attempts?: number;
      readonly reason: string;
      readonly key: string | null;
      readonly by?: string;
    }
  /** Its next attempt starts whatever its breakers say. */
  | {
      readonly type: "job.let_through";
      readonly job: number;
      readonly reason: string;
      readonly key: string | null;
      readonly by?: string;
    }
  | {
      readonly type: "human.answered";
      readonly job: number;
      readonly attempt: number;
      readonly choice: string;
      readonly text: string;
      readonly reason?: string;
      readonly key: string | null;
      readonly by?: string;
      /** Nobody answered in time. */
      readonly expired?: true;
    };

/** What an operator asked for that lets jobs run again. */
export type RetriedBy = "retry_step" | "hard_reset_step" | "redrive" | "reset" | "recover" | "resolve";

export interface JobRaise extends Raise {
  readonly job: number;
}

export type EventType = Event["type"];
/** An event as it stands in the log. `at` is milliseconds since the epoch. */
export interface LoggedEvent {
  readonly seq: number;
  readonly at: number;
  readonly event: Event;
}

/** What `daruma run` overrides for one run; frozen with it. */
export interface RunOptions {
  readonly max_loops: number | null;
  readonly retry_max: number | null;
  readonly failure_routing: boolean;
  /** Single-step mode: exactly one attempt of this step, nothing else is scheduled. */
  readonly only: string | null;
  /** The run whose completed jobs it took over, and how many; null: it was to take over some, and there was no such run. */
  readonly reused?: { readonly from: number | null; readonly jobs: number };
  /** It was exported elsewhere and can only be read here: nothing of it is ever executed. */
  readonly imported?: true;
}

/** What made a run, where that may ask more than once: a second creation is the first run. */
export interface RunCause {
  /** `key/...` of whoever gave a key; of a machine what it acts on, such as `schedule/NAME/ID/TICK`. */
  readonly mark: string;
  /** A hash of what was asked for under a key, which must be the same the next time; null: the mark says it all. */
  readonly request: string | null;
}

export type RungName =
  | "stop"
  | "restart"
  | "park"
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
  /** For programs; `reason` says it to people. Older logs have none. */
  readonly kind?: ReasonKind;
  readonly reason: string;
}

/** Why a rung did not act, or that it did. */
export type ReasonKind =
  | "applies"
  /** It would apply, but max_loops is used up: the scope ends. */
  | "max_loops_used"
  /** Nothing in the file asks for this rung. */
  | "not_configured"
  /** The rung is not for this kind of failure or step. */
  | "does_not_concern"
  | "single_attempt"
  | "routing_off"
  | "remediation_step"
  | "run_list_step"
  | "no_rule_matches"
  | "rule_matched"
  /** A rule is to raise what the attempt has passed, and the job has no such requirement. */
  | "nothing_to_raise"
  /** The same, and it has as much as the rule allows. */
  | "at_resource_limit"
  | "retry_is_useless"
  | "not_retryable"
  | "no_progress"
  | "no_restarts_left"
  | "breaker_not_open"
  /** It was parked until then. */
  | "breaker_spent"
  | "no_attempts_left"
  | "no_retries_left"
  | "no_resets_left"
  | "no_remediation_left"
  | "no_gotos_left"
  | "no_rounds_left"
  | "no_target"
  | "no_transition_matches"
  | "class_not_queued"
  | "rebuild_failed"
  /** An undo or finally step is not routed. */
  | "ends_run"
  | "continue_on_failure";

/** `probe`: this one is to find out whether what it uses works again. */
export type UnparkReason = "closed" | "spent" | "probe";

/** Why jobs are skipped. */
export type SkipCause = "if" | "dependency" | "join" | "not_routed" | "only";

export type EvaluationPurpose =
  | "if"
  | "on_fail.run_js"
  | "on_fail.goto_js"
  | "on_success.run_js"
  | "on_success.goto_js"
  | "transition";

/** What became of a failure that met the failure handlers. */
export type HandlerOutcome =
  | "Retried"
  | "NoHandler"
  | "NoMatchingRule"
  | "MaxRetriesExceeded"
  | "LimitReached"
  | "Error";

/** One transition looked at, and why it did or did not match. */
export interface EdgeConsidered {
  readonly edge: number;
  readonly to: string;
  readonly matched: boolean;
  readonly why: string;
}

/** How a person or an agent decides a hold. */
export type HoldAction = "retry" | "fail" | "skip" | "complete";

/** A result of the sandbox: a value of the right type, or the reason why there is none. */
export type EvaluationResult =
  | { readonly ok: true; readonly value: Json; readonly duration_ms: number }
  | { readonly ok: false; readonly code: string; readonly reason: string; readonly duration_ms: number };

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

export type ReadyReason =
  | "start"
  | "dependencies"
  | "restart"
  | "breaker"
  | "rule"
  | "edge"
  | "operator"
  | "retry"
  | "reset"
  | "remediation"
  | "goto"
  | "requeue"
  | "routed"
  | "undo"
  | "finally";
/**
 * `interrupted`: the engine was asked to stop and has ended the attempt itself, so nothing is lost or charged. `reset`:
 * an operator wants the step to begin anew in a fresh workspace.
 */
export type StopReason = "superseded" | "canceled" | "fail_fast" | "loop_budget" | "interrupted" | "reset";
/** Why a run list entered a job: to repair the job that asked, or to follow its success. */
export type VisitRole = "remediation" | "follow_up";

/** The diagnostics of a failure's route. `selectedEdgeId` is the edge's place among the transitions. */
export interface FailureRoute {
  readonly attempted: boolean;
  readonly selected_edge_id: number | null;
  readonly target_node_id: number | null;
  readonly target_node_key: string | null;
  readonly status: "selected" | "already_scheduled" | "no_route" | "skipped_terminal";
  readonly considered: readonly EdgeConsidered[];
}

/** A completed job of the run that this one was forked from. What is optional older logs do not have. */
export interface ReusedJob {
  readonly scope: string;
  readonly step: string;
  readonly output: Output;
  readonly items: readonly ScopeItem[] | null;
  readonly user_data?: UserData;
  /** Where it was really executed: perhaps that run has taken it over, too. */
  readonly origin?: AttemptElsewhere;
  /** Of a step that declares any: as that attempt found and left them. */
  readonly files?: readonly FileFacts[];
  /** Where its routing led; nothing leads there again. */
  readonly leads?: readonly Lead[];
}

/** An attempt of another run; 0: the job was completed without one. */
export interface AttemptElsewhere {
  readonly run: number;
  readonly attempt: number;
}

/** A job that was visited after the success of another, or because it had failed. */
export interface Lead {
  readonly scope: string;
  readonly step: string;
  readonly on: "success" | "failure";
}

/** Why a step is to go on in a fresh workspace. */
export type ResetTrigger = "no_progress" | "requeue" | "operator";

/** How a failed step is brought back. */
export type HealStrategy = "soft_reset" | "hard_reset" | "requeue";

/** The no-progress limit is reached: by so many failures in a row that say and leave the same, or by going to and fro. */
export interface NoProgress {
  readonly streak: number;
  readonly limit: number;
  readonly oscillation: boolean;
}

/** A declared file as an attempt found or left it. */
export interface FileFacts {
  readonly role: "input" | "output";
  /** As the workflow has it. */
  readonly path: string;
  /** Null for a folder. */
  readonly bytes: number | null;
  readonly modified_at: number;
  readonly sha256: string | null;
}

/** What a completed step has left in the workspace. The worker makes it before the completion is on record. */
export interface CheckpointFacts {
  /** On the run's private ref. */
  readonly commit: string;
  readonly diff_hash: string | null;
  readonly changed_files: readonly string[];
  /** Path of the patch file. */
  readonly patch: string;
  /** The store has the patch, too. */
  readonly stored?: boolean;
}

/** Where a workspace lies: which of all output folders that may have one of this run. */
export interface WorkspaceHome {
  /** Unique; the folder itself says it, too. */
  readonly home: string;
  readonly host: string;
}

/** What a user could miss in a new workspace. */
export type WorkspaceNote =
  /** They are not checked out in the repository: their folders begin empty. */
  | { readonly kind: "empty_submodules"; readonly paths: readonly string[] }
  /** Files that git LFS keeps elsewhere are there as pointers. */
  | { readonly kind: "lfs_pointers" };

/** `ordinal` counts the checkpoints of a run from 1. */
export interface Checkpoint extends CheckpointFacts {
  readonly ordinal: number;
}

/** A checkpoint that has another commit, because one that it stood on was taken back. */
export type MovedCheckpoint = Pick<Checkpoint, "ordinal" | "commit">;

export interface AttemptName {
  readonly job: number;
  readonly attempt: number;
}

/** What an attempt left behind and did not complete, as a patch. */
export interface KeptLeftover extends AttemptName {
  /** Relative to the run's folder. */
  readonly patch: string;
  readonly files: number;
}

/** What an attempt took. What its processes used is missing where nobody could tell, and in old logs. */
export interface AttemptCost extends Partial<ProcessUsage> {
  readonly duration_ms: number;
}

/** Of all processes that an attempt's process group has had, as far as somebody waited for them. */
export interface ProcessUsage {
  /** The most memory that one of them had at a time, or all of them together where that was looked at and is more. */
  readonly peak_memory_bytes: number;
  /** User and system time of all of them. */
  readonly cpu_ms: number;
  /** From disks and to disks, not what memory already had; missing in old logs. */
  readonly read_bytes?: number;
  readonly written_bytes?: number;
}

/** What a model call cost, as its provider counts it; null where it does not say. */
export interface TokenUsage {
  readonly provider: string;
  readonly model: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cached_input_tokens: number | null;
}

/** What max_loops bounds. */
export type LoopTransition = "retry" | "remediate" | "goto" | "edge" | "on_success.goto" | "on_success.edge";
