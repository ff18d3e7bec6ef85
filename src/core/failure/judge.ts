import {
  type ErrorRecord,
  type Failure,
  type FailureClass,
  type FailureFacts,
  traitsOf,
} from "../model/failure.js";
import type { Outcome, Succeeded } from "../model/outcome.js";
import { firstChars, truncateHeadTail } from "../text/head-tail.js";
import { iso } from "../text/iso-time.js";
import { oneLine, plainText } from "../text/plain-text.js";
import { type FailureKind, judgeStatus, judgeWords } from "./judge-words.js";
import { failureSignature } from "./signature.js";

/** The exit code that rules see for a timeout, as `timeout(1)` has it. */
export const TIMEOUT_EXIT_CODE = 124;
/** A longer message is cut in the middle; the log has all of it. */
const MAX_MESSAGE_CHARS = 4_096;
const MAX_CODE_CHARS = 100;
const SIGNAL_EXIT_BASE = 128;

const CLASS_OF_CODE: ReadonlyMap<string, FailureClass> = new Map([
  ["TIMEOUT", "transient_runtime"],
  ["NETWORK_ERROR", "transient_runtime"],
  ["SIGNALED", "transient_runtime"],
  ["PROVIDER_ERROR", "transient_runtime"],
  ["IDLE_TIMEOUT", "transient_runtime"],
  ["OOM", "resource"],
  ["WALLTIME", "resource"],
  ["WORKER_LOST", "infrastructure"],
  ["EVICTED", "infrastructure"],
  ["STORE_FAILED", "infrastructure"],
  ["STORE_GONE", "infrastructure"],
  ["STORE_DAMAGED", "infrastructure"],
  ["STORE_READ_ONLY", "infrastructure"],
  ["LOG_FAILED", "infrastructure"],
  ["SCRIPT_ERROR", "application"],
  ["SPAWN_ERROR", "deterministic_contract"],
  // What a shell exits with where it does not find a command: a moment later it is no more there.
  ["EXIT_127", "deterministic_contract"],
  ["TEMPLATE_ERROR", "deterministic_contract"],
  ["ARTIFACT_MISSING", "deterministic_contract"],
  ["CHILD_INVALID", "deterministic_contract"],
  ["OUTPUT_INVALID", "deterministic_contract"],
  ["NOT_AN_ARRAY", "deterministic_contract"],
  ["TOO_MANY_ITEMS", "deterministic_contract"],
  ["IF_FAILED", "deterministic_contract"],
  ["FLOW_CHANGED", "deterministic_contract"],
  ["NAME_IN_USE", "deterministic_contract"],
  ["INPUT_MISSING", "deterministic_contract"],
  ["OUTPUT_MISSING", "application"],
  ["USER_DATA_TOO_LARGE", "deterministic_contract"],
  ["FAIL_IF", "application"],
  ["FAIL_IF_ERROR", "deterministic_contract"],
  ["REQUEST_INVALID", "deterministic_contract"],
  ["VALIDATION_ERROR", "deterministic_contract"],
  ["INVALID_INPUT", "deterministic_contract"],
  ["MISSING_SECRET", "deterministic_policy"],
  ["PACKAGE_MISSING", "deterministic_policy"],
  ["CONTENT_FILTERED", "deterministic_policy"],
  ["NO_WORKER", "deterministic_policy"],
  ["ACCESS_DENIED", "deterministic_policy"],
  ["ALLOCATION_CANCELED", "deterministic_policy"],
  ["REPO_ERROR", "deterministic_repo"],
  ["WORKSPACE_REPO_NOT_FOUND", "deterministic_repo"],
  ["WORKSPACE_REF_NOT_FOUND", "deterministic_repo"],
  ["WORKSPACE_PATCH_ALTERED", "deterministic_repo"],
  ["WORKSPACE_PATCH_FAILED", "deterministic_repo"],
  ["WORKSPACE_PATCH_MISSING", "deterministic_repo"],
  ["WORKSPACE_PATCH_TOO_LARGE", "deterministic_repo"],
  ["WORKSPACE_BRANCH_EXISTS", "deterministic_repo"],
  ["WORKSPACE_BRANCH_INVALID", "deterministic_repo"],
  ["WORKSPACE_GIT_MISSING", "deterministic_policy"],
  ["WORKSPACE_GIT_FAILED", "infrastructure"],
  // Not hopeless: a hard reset makes the folder again.
  ["WORKSPACE_NOT_FOUND", "application"],
  // What ends a job or a run without an attempt that failed so.
  ["REMEDIATION_FAILED", "application"],
  ["RESET_FAILED", "deterministic_repo"],
  ["LOOP_BUDGET_EXCEEDED", "deterministic_policy"],
  ["JOIN_UNSATISFIED", "deterministic_policy"],
  ["DEPENDENCY_FAILED", "deterministic_policy"],
  ["FAIL_FAST", "deterministic_policy"],
  ["RUN_CANCELED", "deterministic_policy"],
  ["DEADLINE", "deterministic_policy"],
  ["STALLED", "infrastructure"],
]);

/** What the engine or a worker's own watch finds out. An action or a step that names one of these has only failed: a lost attempt costs nothing. */
const ENGINES_CODES: ReadonlySet<string> = new Set(["WORKER_LOST", "EVICTED", "STALLED"]);

const NETWORK_ERRNOS = new Set(
  "ECONNRESET ECONNREFUSED ECONNABORTED ENOTFOUND EAI_AGAIN EAI_FAIL EAI_NODATA ETIMEDOUT EPIPE EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENETRESET ENOTCONN EADDRNOTAVAIL EPROTO".split(
    " ",
  ),
);
/** The machine is short of something just now; the same command may well start a moment later. */
const SHORTAGE_ERRNOS = new Set([
  "EAGAIN",
  "ENOMEM",
  "EMFILE",
  "ENFILE",
  "ETXTBSY",
  "ENOSPC",
  "EDQUOT",
  "EIO",
  "ESTALE",
]);
const SPAWN_ERRNOS = new Set([
  "ENOENT",
  "EACCES",
  "EPERM",
  "ENOEXEC",
  "ENOTDIR",
  "EISDIR",
  "E2BIG",
  "ELOOP",
  "ENAMETOOLONG",
]);
const CERTIFICATE_ERRNO = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)/;

/** Signal numbers of Linux; those that differ elsewhere are rare enough to share them. */
const SIGNAL_NUMBERS: ReadonlyMap<string, number> = new Map(
  "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS"
    .split(" ")
    .map((name, index) => [`SIG${name}`, index + 1]),
);

/** The order of trust: the first of these that has something to say names the failure. */
const JUDGES: readonly ((facts: FailureFacts) => FailureKind | null)[] = [
  judgeTimeout,
  (facts) => (facts.lost ? { code: "WORKER_LOST", class: "infrastructure" } : null),
  (facts) => (facts.evicted ? { code: "EVICTED", class: "infrastructure" } : null),
  (facts) => (facts.code === undefined ? null : judgeActionCode(facts.code, facts)),
  (facts) => (facts.httpStatus === undefined ? null : judgeStatus(facts.httpStatus)),
  (facts) => (facts.errno === undefined ? null : judgeErrno(facts.errno)),
  (facts) => (facts.signal === undefined ? null : { code: "SIGNALED", class: "transient_runtime" }),
  (facts) => (facts.exitCode === undefined ? null : judgeExit(facts.exitCode)),
];

/** Only the engine gives an attempt up; one that its worker does has failed like any other. */
const STOPPED_UNASKED: FailureFacts = {
  code: "ACTION_FAILED",
  message: "the worker stopped the attempt without being asked to",
};

/** Whose failure it is, and when it is judged. */
export type Blamed = Pick<Failure, "action" | "step_id" | "job_id" | "attempt"> & { readonly at: number };

/**
 * The failure that an outcome amounts to, as it goes into the log. Nothing else gives a failure its code and class: typed
 * facts do in the order of trust, and words only where there are none. Code and message are made harmless here, once:
 * whatever a step has written into them ends up on terminals.
 */
export function judge(outcome: Exclude<Outcome, Succeeded>, { at, ...blamed }: Blamed): Failure {
  const facts = withoutLastWords(outcome.kind === "failed" ? outcome.facts : STOPPED_UNASKED);
  const { code, class: failureClass } = kindOf(facts);
  const { resourceLimit } = facts;
  const judged = {
    code: codeText(code),
    class: failureClass,
    message: shown(messageOf(facts)),
    stdout_tail: facts.stdoutTail ?? "",
    stderr_tail: facts.stderrTail ?? "",
  };
  return {
    ...judged,
    how: facts.said === undefined ? null : shown(facts.message),
    said: saidIn(facts) === "" ? null : shown(saidIn(facts)),
    retryable: facts.declared?.retryable ?? traitsOf(failureClass).retried,
    final: facts.declared?.retryable === false,
    ...blamed,
    timestamp: iso(at),
    exit_code: exitCodeOf(facts),
    signal: facts.signal ?? null,
    retry_after_ms: facts.declared?.retryAfterMs ?? facts.retryAfterMs ?? null,
    signature: failureSignature(judged),
    stack_trace: facts.stack ?? null,
    diff_hash: facts.diffHash ?? null,
    changed_files: facts.changedFiles ?? [],
    ...(resourceLimit === undefined ? {} : { resource_limit: resourceLimit }),
    original_class: null,
    cause: null,
  };
}

/** What an event says of the end of jobs, or of a run, that no attempt brought about; judged once for all of them. */
export type JudgedEnd = Pick<ErrorRecord, "code" | "message" | "class" | "retryable" | "signature">;

export function judgeEnd(code: string, message: string): JudgedEnd {
  const failureClass = classOfCode(code);
  const said = { code, message, class: failureClass, stdout_tail: "", stderr_tail: "" };
  const { retried: retryable } = traitsOf(failureClass);
  return { code, message, class: failureClass, retryable, signature: failureSignature(said) };
}

/** What a code alone says. One that Daruma does not know is the step's own. */
export function classOfCode(code: string): FailureClass {
  return CLASS_OF_CODE.get(code) ?? classOfStatusCode(code) ?? "application";
}

/**
 * Whether the retry rung may take this failure. `on` narrows to the codes and classes it names; a code named there is
 * retried even if its class would not be, but never against the step's own word that it is not retryable.
 */
export function isRetryable(
  failure: Pick<Failure, "code" | "class" | "retryable" | "final">,
  on: readonly string[],
): boolean {
  if (failure.final) return false;
  if (on.length === 0) return failure.retryable;
  return on.includes(failure.code) || (on.includes(failure.class) && traitsOf(failure.class).mayPass);
}

/**
 * Whether a breaker that watches these codes and classes is meant. A step that fell silent may have done so by itself: its
 * class says nothing of what it uses.
 */
export function concernsBreaker(
  { code, class: failureClass }: Pick<Failure, "code" | "class">,
  watched: readonly string[],
): boolean {
  return watched.includes(code) || (code !== "IDLE_TIMEOUT" && watched.includes(failureClass));
}

/** What a step says while it is taken away is not why it failed. */
function withoutLastWords(facts: FailureFacts): FailureFacts {
  if (facts.evicted !== true) return facts;
  const { declared: _declared, said: _said, ...others } = facts;
  return others;
}

function kindOf(facts: FailureFacts): FailureKind {
  const observed = judgeObserved(facts);
  const declared = codeText(facts.declared?.code ?? "");
  return declared === "" ? observed : judgeDeclared(declared, observed);
}

function judgeObserved(facts: FailureFacts): FailureKind {
  for (const judge of JUDGES) {
    const verdict = judge(facts);
    if (verdict) return verdict;
  }
  return judgeWords(`${facts.message}\n${facts.stderrTail ?? ""}`);
}

/** A step may name its failure as it likes; it may not call itself lost, since restarts cost it nothing. */
function judgeDeclared(code: string, observed: FailureKind): FailureKind {
  if (ENGINES_CODES.has(code)) return observed;
  const known = CLASS_OF_CODE.get(code) ?? classOfStatusCode(code);
  return { code, class: known === undefined || known === "infrastructure" ? observed.class : known };
}

function classOfStatusCode(code: string): FailureClass | undefined {
  return /^[1-5]\d\d$/.test(code) ? judgeStatus(Number(code)).class : undefined;
}

function judgeTimeout(facts: FailureFacts): FailureKind | null {
  if (facts.timeout === "wall") return { code: "TIMEOUT", class: "transient_runtime" };
  if (facts.timeout === "idle") return { code: "IDLE_TIMEOUT", class: "transient_runtime" };
  return null;
}

function judgeActionCode(code: string, facts: FailureFacts): FailureKind {
  if (ENGINES_CODES.has(code)) return { code: "ACTION_FAILED", class: "application" };
  return { code, class: classOfActionCode(facts) };
}

function classOfActionCode(facts: FailureFacts): FailureClass {
  if (facts.code === "SPAWN_ERROR" && facts.errno !== undefined && SHORTAGE_ERRNOS.has(facts.errno))
    return "transient_runtime";
  return CLASS_OF_CODE.get(facts.code ?? "") ?? "application";
}

function judgeErrno(errno: string): FailureKind {
  if (NETWORK_ERRNOS.has(errno)) return { code: "NETWORK_ERROR", class: "transient_runtime" };
  if (CERTIFICATE_ERRNO.test(errno)) return { code: "NETWORK_ERROR", class: "deterministic_policy" };
  if (SHORTAGE_ERRNOS.has(errno)) return { code: "SPAWN_ERROR", class: "transient_runtime" };
  if (SPAWN_ERRNOS.has(errno)) return { code: "SPAWN_ERROR", class: "deterministic_contract" };
  return { code: errno, class: "application" };
}

function judgeExit(exitCode: number): FailureKind {
  const code = `EXIT_${exitCode}`;
  return { code, class: CLASS_OF_CODE.get(code) ?? "application" };
}

function codeText(code: string): string {
  return firstChars(oneLine(code), MAX_CODE_CHARS);
}

function exitCodeOf(facts: FailureFacts): number | null {
  if (facts.timeout !== undefined) return TIMEOUT_EXIT_CODE;
  if (facts.signal !== undefined) {
    const number = SIGNAL_NUMBERS.get(facts.signal);
    return number === undefined ? (facts.exitCode ?? null) : SIGNAL_EXIT_BASE + number;
  }
  return facts.exitCode ?? null;
}

/** Joins how a failure ended and what the step said of it. A message that the step declared replaces both. */
export function messageOf(facts: FailureFacts): string {
  const { said = "" } = facts;
  const message = facts.declared?.message ?? (said === "" ? facts.message : `${facts.message}: ${said}`);
  if (facts.signal === undefined || message.includes(facts.signal)) return message;
  return message === "" ? `ended by ${facts.signal}` : `${message} (ended by ${facts.signal})`;
}

function saidIn({ said = "", declared }: FailureFacts): string {
  return declared?.message ?? said;
}

function shown(text: string): string {
  return truncateHeadTail(plainText(text), MAX_MESSAGE_CHARS).text;
}
