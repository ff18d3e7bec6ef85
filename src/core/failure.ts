import type { Json } from "./json.js";

export type FailureClass =
  | "transient_runtime"
  | "stuck_no_progress"
  | "resource"
  | "application"
  | "deterministic_contract"
  | "deterministic_policy"
  | "deterministic_repo"
  | "infrastructure";

/** What an action observed of its own failure: typed facts, not yet judged. Texts are redacted already. */
export interface FailureFacts {
  readonly message: string;
  readonly exitCode?: number;
  /** A signal that ended the process and that Daruma did not send. */
  readonly signal?: string;
  readonly errno?: string;
  readonly httpStatus?: number;
  readonly timeout?: "wall" | "idle";
  /** A code from the catalogue that the action itself gives, such as TEMPLATE_ERROR. */
  readonly code?: string;
  /** The file $DARUMA_FAILURE. */
  readonly declared?: {
    readonly code?: string;
    readonly message?: string;
    readonly retryable?: boolean;
    readonly retryAfterMs?: number;
  };
  /** The worker or the engine was lost; nothing is known of the attempt. */
  readonly lost?: boolean;
  /** What the attempt has left in the workspace since the last checkpoint; null: nothing, or there is no workspace. */
  readonly diffHash?: string | null;
  /** The first of the files that it has changed there. */
  readonly changedFiles?: readonly string[];
  readonly retryAfterMs?: number;
  readonly stdoutTail?: string;
  readonly stderrTail?: string;
  readonly stack?: string;
}

/** The error record of an attempt, as events, tables and doors show it. */
export interface Failure {
  readonly code: string;
  readonly class: FailureClass;
  readonly message: string;
  readonly retryable: boolean;
  /** The step itself said that trying again is useless: no rule, retry or reset. */
  readonly final: boolean;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly retry_after_ms: number | null;
  readonly stdout_tail: string;
  readonly stderr_tail: string;
  readonly stack_trace: string | null;
  /** The kind of action, and whose attempt it was. */
  readonly action: string;
  readonly step_id: string;
  readonly job_id: number;
  /** Null: there was none, since the step's `if` failed. */
  readonly attempt: number | null;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** The same for the same failure, whatever its times, paths and process ids. */
  readonly signature: string;
  /** What the attempt has left in the workspace since the last checkpoint; null: nothing, or there is no workspace. */
  readonly diff_hash: string | null;
  /** What the failure was before it became `stuck_no_progress` for want of progress. */
  readonly original_class: FailureClass | null;
  /** Of a workspace step: the first of the files that the attempt has changed. */
  readonly changed_files?: readonly string[];
}

/** What the facts alone say of a failure. */
export type ClassifiedFailure = Omit<
  Failure,
  | "action"
  | "step_id"
  | "job_id"
  | "attempt"
  | "timestamp"
  | "signature"
  | "diff_hash"
  | "original_class"
  | "changed_files"
>;

/** The fields of `error`, against which references to it are checked when a file is loaded. */
export const ERROR_FIELDS = ["message", "code", "class", "stdout", "stderr", "exitCode"] as const;

/** A failure as expressions, conditions and templates see it. */
export function visibleError(failure: Failure): { readonly [field in (typeof ERROR_FIELDS)[number]]: Json } {
  const { message, code, stdout_tail: stdout, stderr_tail: stderr, exit_code: exitCode } = failure;
  return { message, code, class: failure.class, stdout, stderr, exitCode };
}
