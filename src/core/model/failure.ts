import {
  count,
  flag,
  id,
  jobId,
  lazy,
  list,
  noted,
  nullable,
  number,
  type OfFields,
  object,
  optional,
  type Shape,
  text,
  word,
} from "../text/shape.js";
import { LIMIT, type Limit } from "./resources.js";

const atLeast0: Shape<number> = { kind: "number", whole: false, min: 0, max: Infinity };

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
export const FAILURE_FACTS = {
  message: text,
  said: optional(
    noted(
      text,
      "The last line that the process wrote of its failure, empty if it wrote none: the message is how it ended then, and nothing else.",
    ),
  ),
  exitCode: optional(id),
  signal: optional(noted(text, "A signal that ended the process and that Daruma did not send.")),
  errno: optional(text),
  httpStatus: optional(id),
  timeout: optional(word(["wall", "idle"])),
  code: optional(
    noted(text, "From the catalogue, where the action itself gives one, such as TEMPLATE_ERROR."),
  ),
  /** The file $DARUMA_FAILURE. */
  declared: optional(
    object({
      code: optional(text),
      message: optional(text),
      retryable: optional(flag),
      retryAfterMs: optional(atLeast0),
    }),
  ),
  /** What it ran on was taken away, by a signal that was meant for its worker or for a neighbour's memory. */
  evicted: optional(flag),
  retryAfterMs: optional(atLeast0),
  stdoutTail: optional(text),
  stderrTail: optional(text),
  stack: optional(text),
  because: optional(noted(jobId, "Of the program of a flow: the job whose failure it ended with.")),
} as const;

export interface FailureFacts extends OfFields<typeof FAILURE_FACTS> {
  /** The worker or the engine was lost; nothing is known of the attempt. */
  readonly lost?: boolean;
  /** The most that the job can be given of what it has passed, where it runs on a cluster that has a limit. */
  readonly resourceLimit?: Limit;
  /** What the attempt has left in the workspace since the last checkpoint; null: nothing, or there is no workspace. */
  readonly diffHash?: string | null;
  /** The first of the files that it has changed there. */
  readonly changedFiles?: readonly string[];
  /** The changes as a patch, relative to the run's folder. Null if it is too large, missing if there were none. */
  readonly patch?: string | null;
}

const failureClass = word(FAILURE_CLASSES);

/**
 * The error record: what is known of a failure, under the same names wherever one is shown. That of a run has no step
 * where none is to blame.
 */
export const ERROR_RECORD = {
  code: noted(text, "Stable; programs match on it."),
  class: failureClass,
  message: noted(text, "What happened: `how` and `said` in one where the failure has both."),
  how: noted(
    nullable(text),
    "How the process ended. Null: something else is the failure, and `message` says what.",
  ),
  said: noted(nullable(text), "What the step itself said of it. Null: nothing."),
  retryable: flag,
  final: noted(flag, "The step itself reported that a retry is useless."),
  action: nullable(text),
  step_id: noted(nullable(text), "Null: an error of the run, not of a step."),
  job_id: nullable(jobId),
  attempt: noted(nullable(count), "Null: no attempt in this visit."),
  timestamp: noted(text, "ISO 8601."),
  exit_code: nullable(id),
  signal: nullable(text),
  retry_after_ms: nullable(number),
  signature: noted(
    text,
    "Equal for equal failures, whatever times, numbers, paths and names of files they tell.",
  ),
  stdout_tail: noted(text, "The last 8 KB, redacted."),
  stderr_tail: text,
  stack_trace: nullable(text),
  diff_hash: noted(nullable(text), "What the attempt left in the workspace since the last checkpoint."),
  changed_files: list(text),
  resource_limit: optional(noted(LIMIT, "After OOM or WALLTIME: the most that the cluster gives a job.")),
  original_class: noted(nullable(failureClass), "Before it became `stuck_no_progress`."),
  cause: noted(
    lazy((): Shape<Failure | null> => nullable(FAILURE)),
    "The failure of the last attempt, if something else ended the job.",
  ),
} as const;

export interface ErrorRecord extends OfFields<typeof ERROR_RECORD> {}
export const ANY_FAILURE: Shape<ErrorRecord> = object(ERROR_RECORD);

/** The error record of an attempt or a job. */
export interface Failure extends ErrorRecord {
  readonly action: string;
  readonly step_id: string;
  readonly job_id: number;
}

export const FAILURE = ANY_FAILURE as Shape as Shape<Failure>;

/** What the facts alone say of a failure. */
export type ClassifiedFailure = Pick<
  ErrorRecord,
  | ("code" | "class" | "message" | "retryable" | "final" | "exit_code" | "signal")
  | ("retry_after_ms" | "stdout_tail" | "stderr_tail" | "stack_trace")
>;
