import type { Json } from "../text/json.js";

/** What `daruma run` overrides for one run; frozen with it. */
export interface RunOptions {
  readonly maxLoops: number | null;
  readonly retryMax: number | null;
  readonly failureRouting: boolean;
  /** Single-step mode: exactly one attempt of this step, nothing else is scheduled. */
  readonly only: string | null;
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
  | "on_success.goto_js"
  | "transition";

/** What became of a failure that met the failure handlers, as seed 002 names it. */
export type RecoveryOutcome = "Retried" | "NoHandler" | "NoMatchingRule" | "MaxRetriesExceeded" | "Error";

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

export type ReadyReason =
  | "start"
  | "dependencies"
  | "restart"
  | "rule"
  | "edge"
  | "operator"
  | "retry"
  | "reset"
  | "remediation"
  | "goto"
  | "requeue"
  | "routed";
/**
 * `interrupted`: the engine was asked to stop and has ended the attempt itself, so nothing is lost or charged. `reset`:
 * an operator wants the step to begin anew in a fresh workspace.
 */
export type StopReason = "superseded" | "canceled" | "fail_fast" | "loop_budget" | "interrupted" | "reset";
/** Why a run list entered a job: to repair the job that asked, or to follow its success. */
export type VisitRole = "remediation" | "follow_up";

/** Seed 003's diagnostics of a failure's route. `selectedEdgeId` is the edge's place among the transitions. */
export interface FailureRoute {
  readonly attempted: boolean;
  readonly selectedEdgeId: number | null;
  readonly targetNodeId: number | null;
  readonly targetNodeKey: string | null;
  readonly status: "selected" | "already_scheduled" | "no_route" | "skipped_terminal";
  readonly considered: readonly EdgeConsidered[];
}

/** A completed job of the run that this one was forked from. */
export interface ReusedJob {
  readonly scope: string;
  readonly step: string;
  readonly output: Output;
  readonly items: readonly ScopeItem[] | null;
}

/** Why a step is to go on in a fresh workspace. */
export type ResetTrigger = "no_progress" | "requeue" | "operator";

/** How a failed step is brought back, in the words of seed 004. */
export type HealStrategy = "soft_reset" | "hard_reset" | "requeue";

/** The no-progress limit is reached: by so many failures in a row that say and leave the same, or by going to and fro. */
export interface NoProgress {
  readonly streak: number;
  readonly limit: number;
  readonly oscillation: boolean;
}

/** What a completed step has left in the workspace. The worker makes it before the completion is on record. */
export interface CheckpointFacts {
  /** On the run's private ref. */
  readonly commit: string;
  readonly diffHash: string | null;
  readonly changedFiles: readonly string[];
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
