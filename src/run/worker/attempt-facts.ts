import { DarumaError } from "../../core/errors/errors.js";
import { judge } from "../../core/failure/judge.js";
import type { ProcessUsage } from "../../core/model/events.js";
import type { Failure, FailureFacts } from "../../core/model/failure.js";
import type { Failed, Outcome } from "../../core/model/outcome.js";
import type { Redactor } from "../../core/redaction/redaction.js";
import { truncateHeadTail } from "../../core/text/head-tail.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { MAX_TAIL_BYTES } from "../action/log-file.js";
import { LogTail } from "../action/log-limits.js";
import type { AbortCause, Assignment } from "../worker.js";
import type { AttemptWorkspace } from "./attempt-workspace.js";
import type { DeclaredData } from "./declared-data.js";

/** Limit for a message or a stack, which goes into the log and every row. Actions may return any length. */
const MAX_ERROR_TEXT_CHARS = 4 * 1024;

/** The largest exit code that any system reports. */
const MAX_EXIT_CODE = 255;

/** The end of an action, however it came about. */
export interface ActionEnd {
  readonly result: Outcome<Json>;
  readonly workspace: AttemptWorkspace | null;
  readonly declared: DeclaredData;
  readonly tails: Pick<FailureFacts, "stdoutTail" | "stderrTail">;
  /** Set if it was ended for lack of memory or time, its own or the machine's. */
  readonly exceeded: FailureFacts | null;
  readonly used: ProcessUsage | undefined;
  readonly logError: unknown;
}

/** The failure of an action that broke its contract and threw. */
export function thrownFacts(error: unknown): FailureFacts {
  const stack = error instanceof Error ? error.stack : undefined;
  return { message: messageOf(error), ...(stack ? { stack } : {}) };
}

/** The failure if the run's workspace cannot be used, or the step's changes in it cannot be saved. */
export function workspaceFacts(error: unknown): FailureFacts {
  const code = error instanceof DarumaError ? error.code : "WORKSPACE_GIT_FAILED";
  return { code, message: messageOf(error) };
}

export function notWritten(what: string, error: unknown): FailureFacts {
  const errno = error instanceof Error && "code" in error ? { errno: String(error.code) } : {};
  return { code: "LOG_FAILED", ...errno, message: `${what} could not be written: ${messageOf(error)}` };
}

/** The outcome if nothing else can be recorded. An attempt must not reject, because nobody would handle that. */
export function notKept(error: unknown, redactor: Redactor): Outcome {
  const { message, ...facts } = notWritten("what the attempt left", error);
  return { kind: "failed", facts: { ...facts, message: redactor.redact(message) } };
}

/** The failure as the engine will judge it. */
export function judged(outcome: Failed, { action, stepId, jobId, attempt }: Assignment, at: number): Failure {
  return judge(outcome, { action: action.type, step_id: stepId, job_id: jobId, attempt, at });
}

export function withShortTexts(facts: FailureFacts): FailureFacts {
  const { message, said, stack, declared } = facts;
  return {
    ...facts,
    message: shorten(message),
    ...(said === undefined ? {} : { said: shorten(said) }),
    ...(stack === undefined ? {} : { stack: shorten(stack) }),
    ...(declared?.message === undefined
      ? {}
      : { declared: { ...declared, message: shorten(declared.message) } }),
  };
}

/** Limits what a remote worker reports to the bounds that apply here. Numbers that no system reports are left out. */
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
 * Whether the outcome no longer counts, because nobody wants it or this engine releases its run, and the step begins
 * again. A failure of its own is reported all the same if the engine stays, since it may explain a problem.
 */
export function wasGivenUp({ kind }: Outcome<Json>, signal: AbortSignal): boolean {
  return signal.aborted && (kind !== "failed" || (signal.reason as AbortCause) === "released");
}
