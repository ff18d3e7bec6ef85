import { judge } from "../../src/core/failure/judge.js";
import type { Failure, FailureFacts } from "../../src/core/model/failure.js";

/** The record of a failed attempt, with what a test has to say about it. */
export function failureOf(changes: Partial<Failure> = {}): Failure {
  return {
    code: "EXIT_2",
    class: "application",
    message: "it broke",
    how: null,
    said: null,
    retryable: true,
    final: false,
    action: "command",
    step_id: "build",
    job_id: 10_000_001,
    attempt: 1,
    timestamp: "2023-11-14T22:13:20.000Z",
    exit_code: 2,
    signal: null,
    retry_after_ms: null,
    signature: "v1:0",
    stdout_tail: "",
    stderr_tail: "line 1\nline 2",
    stack_trace: null,
    diff_hash: null,
    changed_files: [],
    original_class: null,
    cause: null,
    ...changes,
  };
}

/** What is judged of an attempt that failed with these facts. */
export function judged(facts: FailureFacts): Failure {
  const blamed = {
    action: "command",
    step_id: "build",
    job_id: 10_000_001,
    attempt: 1,
    at: 1_700_000_000_000,
  };
  return judge({ kind: "failed", facts }, blamed);
}
