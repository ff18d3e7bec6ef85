import type { Limit } from "./resources.js";

interface ClassTraits {
  /** Retried where `retry.on` does not say otherwise. */
  readonly retried: boolean;
  /** Another try may help: `retry.on` and `queue.classes` may name it. */
  readonly mayPass: boolean;
  /** Put back into the queue where `queue.classes` does not say otherwise. */
  readonly requeued: boolean;
  /** The attempt was lost, which is not the step's fault: it is restarted, and says nothing about the step's progress. */
  readonly lost: boolean;
}

/** Every kind of failure and what may be done about it. Whatever treats one class unlike another asks this table. */
const TRAITS = {
  transient_runtime: { retried: true, mayPass: true, requeued: true, lost: false },
  stuck_no_progress: { retried: true, mayPass: true, requeued: true, lost: false },
  // Only worth another try with more memory or time, which a plain retry does not bring.
  resource: { retried: false, mayPass: true, requeued: false, lost: false },
  application: { retried: true, mayPass: true, requeued: false, lost: false },
  deterministic_contract: { retried: false, mayPass: false, requeued: false, lost: false },
  deterministic_policy: { retried: false, mayPass: false, requeued: false, lost: false },
  deterministic_repo: { retried: false, mayPass: false, requeued: false, lost: false },
  infrastructure: { retried: true, mayPass: true, requeued: false, lost: true },
} as const satisfies Record<string, ClassTraits>;

export type FailureClass = keyof typeof TRAITS;

export const FAILURE_CLASSES = Object.keys(TRAITS) as readonly FailureClass[];

export function isFailureClass(name: string): name is FailureClass {
  return Object.hasOwn(TRAITS, name);
}

/** A class that a log of another version names is the step's own. */
export function traitsOf(failureClass: FailureClass): ClassTraits {
  return isFailureClass(failureClass) ? TRAITS[failureClass] : TRAITS.application;
}

/** The classes that have a trait. */
export function classesWith(trait: keyof ClassTraits): readonly FailureClass[] {
  return FAILURE_CLASSES.filter((failureClass) => TRAITS[failureClass][trait]);
}

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
  /** What it ran on was taken away, by a signal that was meant for its worker or for a neighbour's memory. */
  readonly evicted?: boolean;
  /** The most that the job can be given of what it has passed, where it runs on a cluster that has a limit. */
  readonly resourceLimit?: Limit;
  /** What the attempt has left in the workspace since the last checkpoint; null: nothing, or there is no workspace. */
  readonly diffHash?: string | null;
  /** The first of the files that it has changed there. */
  readonly changedFiles?: readonly string[];
  readonly retryAfterMs?: number;
  readonly stdoutTail?: string;
  readonly stderrTail?: string;
  readonly stack?: string;
}

/**
 * The error record: what is known of a failure, under the same names wherever one is shown. That of a run has no step
 * where none is to blame.
 */
export interface ErrorRecord {
  readonly code: string;
  readonly class: FailureClass;
  readonly message: string;
  readonly retryable: boolean;
  /** The step itself said that trying again is useless: no rule, retry or reset. */
  readonly final: boolean;
  /** The kind of action. */
  readonly action: string | null;
  readonly step_id: string | null;
  readonly job_id: number | null;
  /** Null: no attempt in this visit. */
  readonly attempt: number | null;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly retry_after_ms: number | null;
  /** The same for the same failure, whatever its times, paths and process ids. */
  readonly signature: string;
  readonly stdout_tail: string;
  readonly stderr_tail: string;
  readonly stack_trace: string | null;
  /** What the attempt has left in the workspace since the last checkpoint; null: nothing, or there is no workspace. */
  readonly diff_hash: string | null;
  /** Of a workspace step: the first of the files that the attempt has changed. */
  readonly changed_files: readonly string[];
  /** Of a job that was over its memory or runtime: the most of it that its cluster can give. Missing: no limit is known. */
  readonly resource_limit?: Limit;
  /** What the failure was before it became `stuck_no_progress` for want of progress. */
  readonly original_class: FailureClass | null;
  /** Where something else than that ended the job, such as its loop budget: the failure of its last attempt. */
  readonly cause: Failure | null;
}

/** The error record of an attempt or a job. */
export interface Failure extends ErrorRecord {
  readonly action: string;
  readonly step_id: string;
  readonly job_id: number;
}

/** What the facts alone say of a failure. */
export type ClassifiedFailure = Pick<
  ErrorRecord,
  | "code"
  | "class"
  | "message"
  | "retryable"
  | "final"
  | "exit_code"
  | "signal"
  | "retry_after_ms"
  | "stdout_tail"
  | "stderr_tail"
  | "stack_trace"
>;
