import type { Json } from "../text/json.js";
import type { ErrorRecord } from "./failure.js";
import type { Job } from "./run.js";

type Seen = { readonly [name: string]: Json };

/** Every field of the record; the compiler finds one that is missing here. */
const RECORD_FIELDS: { readonly [field in keyof ErrorRecord]: true } = {
  code: true,
  class: true,
  message: true,
  how: true,
  said: true,
  retryable: true,
  final: true,
  action: true,
  step_id: true,
  job_id: true,
  attempt: true,
  timestamp: true,
  exit_code: true,
  signal: true,
  retry_after_ms: true,
  signature: true,
  stdout_tail: true,
  stderr_tail: true,
  stack_trace: true,
  diff_hash: true,
  changed_files: true,
  resource_limit: true,
  original_class: true,
  cause: true,
};

/** The fields of `error`, against which references to it are checked when a file is loaded. */
export const ERROR_FIELDS: readonly string[] = [
  ...Object.keys(RECORD_FIELDS),
  "exitCode",
  "stdout",
  "stderr",
];

/** A failure as expressions, templates and conditions see it: the record, and shorter names for three of its fields. */
export function seenError(record: ErrorRecord): Seen {
  const { exit_code: exitCode, stdout_tail: stdout, stderr_tail: stderr } = record;
  return { ...plain(record), exitCode, stdout, stderr };
}

/** `state._last_error`: the record, and the short names `node_id` and `action_id` for step and action. */
export function seenLastError(record: ErrorRecord | null): Seen | null {
  if (record === null) return null;
  return { ...plain(record), node_id: record.step_id, action_id: record.action };
}

/** Without what a program printed: a reducer sees one for each of thousands of branches. */
export function seenBriefly(record: ErrorRecord): Seen {
  const { stdout_tail: _out, stderr_tail: _err, stack_trace: _stack, cause: _cause, ...rest } = record;
  return plain(rest);
}

function plain(record: object): Seen {
  return record as Seen;
}

/**
 * What a job's conditions and expressions see as `state._last_error`. Those of a failure are asked only once it has
 * passed retry, so that it is the last error by then, whatever the scope had before.
 */
export function lastErrorSeenBy(job: Job): Seen | null {
  return seenLastError(job.status === "recovering" && job.error !== null ? job.error : job.scope.lastError);
}
