import type { ErrorRecord, Failure } from "../model/failure.js";
import type { Job } from "../model/run.js";
import { iso } from "../text/iso-time.js";
import { judgeCode } from "./classify.js";
import { failureSignature } from "./signature.js";

/** An attempt's record as older logs have it: a number for the time, and without what came later. */
type OldFailure = Omit<Failure, "timestamp" | Added> & { readonly timestamp?: number } & Partial<Failed>;
type Added = "signature" | "diff_hash" | "original_class" | "changed_files" | "cause";
type Failed = Pick<Failure, Added>;

/** The record of an attempt, whichever version wrote it. */
export function readFailure(stored: Failure | OldFailure): Failure {
  if (typeof stored.timestamp === "string") return stored as Failure;
  return {
    ...stored,
    // The first logs had none.
    timestamp: iso(stored.timestamp ?? 0),
    signature: stored.signature ?? failureSignature(stored),
    diff_hash: stored.diff_hash ?? null,
    original_class: stored.original_class ?? null,
    changed_files: stored.changed_files ?? [],
    cause: null,
  };
}

/** A record as a table has it: one of an older database may have nothing but code and message. */
export function readRecord(
  stored: ErrorRecord | Pick<ErrorRecord, "code" | "message">,
  place: Pick<ErrorRecord, "step_id" | "job_id" | "attempt"> & { readonly at: number },
): ErrorRecord {
  if ("class" in stored) return readFailure(stored as Failure);
  const { at, ...whose } = place;
  return { ...endingRecord(judgeEnding(stored.code, stored.message), at), ...whose };
}

/** What an event says of the end of jobs, or of a run, that no attempt brought about; judged once for all of them. */
export type Ending = Pick<ErrorRecord, "code" | "message" | "class" | "retryable" | "signature">;

export function judgeEnding(code: string, message: string): Ending {
  const signature = failureSignature({ code, message, stdout_tail: "", stderr_tail: "" });
  return { code, message, ...judgeCode(code), signature };
}

/** What a job ended with: the failure of its last attempt where that is it, else a record of its own. */
export function jobFailure(job: Job, ending: Ending, at: number): Failure {
  const { error, step } = job;
  if (error !== null && error.code === ending.code && error.message === ending.message) return error;
  const { id, action } = step.definition;
  const attempt = job.attempt > 0 && job.attemptVisit === job.visit ? job.attempt : null;
  const whose = { action: action.type, step_id: id, job_id: job.id, attempt };
  return { ...endingRecord(ending, at), ...whose, cause: error };
}

/** What a run ended with: the failure of the job to blame, in the run's words. */
export function runError(ending: Ending, blamed: Failure | null, at: number): ErrorRecord {
  if (blamed === null) return endingRecord(ending, at);
  return { ...blamed, message: ending.message, timestamp: iso(at) };
}

/** Nobody's: facts that only an attempt has are null or empty. */
function endingRecord(ending: Ending, at: number): ErrorRecord {
  return {
    code: ending.code,
    class: ending.class,
    message: ending.message,
    retryable: ending.retryable,
    final: false,
    action: null,
    step_id: null,
    job_id: null,
    attempt: null,
    timestamp: iso(at),
    exit_code: null,
    signal: null,
    retry_after_ms: null,
    signature: ending.signature,
    stdout_tail: "",
    stderr_tail: "",
    stack_trace: null,
    diff_hash: null,
    changed_files: [],
    original_class: null,
    cause: null,
  };
}
