import { MAX_TAIL_BYTES } from "../action/log-file.js";
import { LogTail } from "../action/log-tail.js";
import { DarumaError } from "../core/errors/errors.js";
import { judge } from "../core/failure/judge.js";
import type { Failure, FailureFacts } from "../core/model/failure.js";
import type { Failed, Outcome } from "../core/model/outcome.js";
import type { Redactor } from "../core/redaction/redaction.js";
import { truncateHeadTail } from "../core/text/head-tail.js";
import type { Json } from "../core/text/json.js";
import { messageOf } from "../core/text/message-of.js";
import type { AbortCause, Assignment } from "./worker.js";

/** Of a message or a stack; an action may give any length, and each goes into the log and every row. */
const MAX_ERROR_TEXT_CHARS = 4 * 1024;

/** As wide as any system reports them. */
const MAX_EXIT_CODE = 255;

/** An action that broke its word and threw. */
export function thrownFacts(error: unknown): FailureFacts {
  const stack = error instanceof Error ? error.stack : undefined;
  return { message: messageOf(error), ...(stack ? { stack } : {}) };
}

/** The run's workspace cannot be used, or what the step did there cannot be kept. */
export function workspaceFacts(error: unknown): FailureFacts {
  const code = error instanceof DarumaError ? error.code : "WORKSPACE_GIT_FAILED";
  return { code, message: messageOf(error) };
}

export function notWritten(what: string, error: unknown): FailureFacts {
  const errno = error instanceof Error && "code" in error ? { errno: String(error.code) } : {};
  return { code: "LOG_FAILED", ...errno, message: `${what} could not be written: ${messageOf(error)}` };
}

/** The last resort: nobody waits for an attempt that rejects. */
export function notKept(error: unknown, redactor: Redactor): Outcome {
  const { message, ...facts } = notWritten("what the attempt left", error);
  return { kind: "failed", facts: { ...facts, message: redactor.redact(message) } };
}

/** The failure as the engine will judge it. */
export function judged(outcome: Failed, { action, stepId, jobId, attempt }: Assignment, at: number): Failure {
  return judge(outcome, { action: action.type, step_id: stepId, job_id: jobId, attempt, at });
}

export function withShortTexts(facts: FailureFacts): FailureFacts {
  const { message, stack, declared } = facts;
  return {
    ...facts,
    message: shorten(message),
    ...(stack === undefined ? {} : { stack: shorten(stack) }),
    ...(declared?.message === undefined
      ? {}
      : { declared: { ...declared, message: shorten(declared.message) } }),
  };
}

/** What a worker elsewhere says, within the bounds that hold here: numbers that no system reports are left out. */
export function withinBounds({ exitCode, stdoutTail, stderrTail, ...facts }: FailureFacts): FailureFacts {
  const isReported = exitCode !== undefined && exitCode >= 0 && exitCode <= MAX_EXIT_CODE;
  return withShortTexts({
    ...facts,
    ...(isReported ? { exitCode } : {}),
    ...(stdoutTail === undefined ? {} : { stdoutTail: endOf(stdoutTail) }),
    ...(stderrTail === undefined ? {} : { stderrTail: endOf(stderrTail) }),
  });
}

function endOf(text: string): string {
  if (Buffer.byteLength(text) <= MAX_TAIL_BYTES) return text;
  const tail = new LogTail(MAX_TAIL_BYTES);
  tail.append(Buffer.from(text));
  return tail.text(MAX_TAIL_BYTES);
}

function shorten(text: string): string {
  return truncateHeadTail(text, MAX_ERROR_TEXT_CHARS).text;
}

/**
 * Nobody wants it any more, or this engine lets go of its run: the step begins anew with the next one. A failure of its
 * own is told all the same where the engine stays: it may say what was wrong.
 */
export function wasGivenUp({ kind }: Outcome<Json>, signal: AbortSignal): boolean {
  return signal.aborted && (kind !== "failed" || (signal.reason as AbortCause) === "released");
}
