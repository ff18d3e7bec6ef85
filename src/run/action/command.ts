import type { FailureFacts } from "../../core/model/failure.js";
import { type Failed, type Outcome, withRemark } from "../../core/model/outcome.js";
import type { Shell } from "../../core/model/shell.js";
import { isDeeperThan, type Json, MAX_JSON_LEVELS } from "../../core/text/json.js";
import { oneLine } from "../../core/text/plain-text.js";
import { tellingLine } from "../../core/text/telling-line.js";
import { readDeclaredFailure, readOutputFile } from "../process/attempt-files.js";
import { endProcessesWithToken } from "../process/attempt-processes.js";
import { whenFilesAllow } from "../process/machine-shortage.js";
import { HeadCapture, TailCapture } from "../process/output-capture.js";
import { startCommand } from "../process/plain-words.js";
import type { ProcessExit, ProcessHost, RunningProcess } from "../process/process-host.js";
import { type Action, type Attempt, type StopCause, stoppedResult } from "./action.js";

/** How much of stdout becomes the step's output. The log keeps all of it. */
export const MAX_OUTPUT_CAPTURE_BYTES = 1024 * 1024;
/** How much of each stream's end is searched for the line that says what broke. */
const TAIL_BYTES = 8 * 1024;
const MAX_LINE_CHARS = 200;
/** What an attempt is ended with, and what a program that has caught it exits with by custom. */
const OUR_SIGNALS: ReadonlySet<string> = new Set(["SIGTERM", "SIGKILL"]);
const OUR_EXIT_CODES: ReadonlySet<number | null> = new Set([128 + 15, 128 + 9]);

type Tails = Readonly<Record<"stdout" | "stderr", TailCapture>>;

/** The `command` step: a shell line or an argv list, run as a process group of its own. */
export function createCommandAction(host: ProcessHost): Action {
  return { type: "command", run: (attempt) => runCommand(host, attempt) };
}

async function runCommand(host: ProcessHost, attempt: Attempt): Promise<Outcome<Json>> {
  if (attempt.signal.aborted) return stoppedResult(attempt);
  const stdout = new HeadCapture(MAX_OUTPUT_CAPTURE_BYTES);
  const tails: Tails = { stdout: new TailCapture(TAIL_BYTES), stderr: new TailCapture(TAIL_BYTES) };
  const { exec, stdin, shell } = attempt.action;
  const running = startCommand(host, {
    exec: exec as string | readonly string[],
    ...(shell === undefined ? {} : { shell: shell as Shell }),
    env: attempt.env,
    cwd: attempt.cwd,
    ...(typeof stdin === "string" ? { stdin } : {}),
    onStdout: (chunk) => {
      stdout.push(chunk);
      tails.stdout.push(chunk);
      attempt.writeStdout(chunk);
    },
    onStderr: (chunk) => {
      tails.stderr.push(chunk);
      attempt.writeStderr(chunk);
    },
  });
  const { exit, wasEnded } = await endOnAbort(running, attempt);
  const judged = (): Outcome<Json> => judge(attempt, exit, wasEnded, stdout, tails);
  const result =
    (await whenFilesAllow(judged, () => attempt.signal.reason === "stopped")) ?? stoppedResult(attempt);
  const { usage: used, collectedAt: exitedAt } = exit;
  return {
    ...result,
    ...(used === undefined ? {} : { used }),
    ...(exitedAt === undefined ? {} : { exitedAt }),
  };
}

function judge(
  attempt: Attempt,
  exit: ProcessExit,
  wasEnded: boolean,
  stdout: HeadCapture,
  tails: Tails,
): Outcome<Json> {
  if (wasEnded && !failedByItself(exit, attempt)) return stoppedResult(attempt);
  if (exit.exitCode === 0) return succeed(attempt, stdout);
  const facts = exitFacts(exit, tails, attempt);
  const output = jsonOf(attempt, stdout);
  return output === undefined ? failed(facts) : { ...failed(facts), output };
}

/** How the process ended, and whether it was asked to meanwhile. */
async function endOnAbort(
  running: RunningProcess,
  attempt: Attempt,
): Promise<{ exit: ProcessExit; wasEnded: boolean }> {
  let stopping: Promise<void> | null = null;
  const stop = (): void => {
    stopping = endEverything(running, attempt);
    // It is waited for below; till then a failure is not an unhandled one.
    stopping.catch(() => {});
  };
  attempt.signal.addEventListener("abort", stop, { once: true });
  const exit = await running.exited;
  attempt.signal.removeEventListener("abort", stop);
  if (stopping !== null) await stopping;
  return { exit, wasEnded: stopping !== null };
}

/**
 * A process that nobody wants any more may fail on its own all the same: just before, or while it cleans up. Then that
 * is what happened to it. A timeout is a failure already, whatever the process makes of it.
 */
function failedByItself({ exitCode, signal }: ProcessExit, attempt: Attempt): boolean {
  if ((attempt.signal.reason as StopCause) !== "stopped") return false;
  if (signal !== null) return !OUR_SIGNALS.has(signal);
  return exitCode !== 0 && !OUR_EXIT_CODES.has(exitCode);
}

/** The group, and what has left it: `timeout` and shells with job control give their children groups of their own. */
async function endEverything(running: RunningProcess, attempt: Attempt): Promise<void> {
  await running.terminate(attempt.killGraceMs);
  await endProcessesWithToken(attempt.token);
}

function failed(facts: FailureFacts): Failed<Json> {
  return { kind: "failed", facts };
}

function exitFacts(exit: ProcessExit, { stdout, stderr }: Tails, attempt: Attempt): FailureFacts {
  if (exit.spawnError !== undefined) {
    return { code: "SPAWN_ERROR", errno: exit.spawnError.code, message: exit.spawnError.message };
  }
  const how = exit.signal === null ? `exit code ${exit.exitCode}` : `ended by signal ${exit.signal}`;
  // Cut after redaction: half a secret would no longer be recognised.
  const line = tellingLine(stderr.lines(attempt.hideSecrets), stdout.lines(attempt.hideSecrets));
  const { declared, defect } = readDeclaredFailure(attempt.failureFile);
  const facts = {
    message: how,
    said: line === null ? "" : oneLine(line, MAX_LINE_CHARS),
    ...(exit.exitCode === null ? {} : { exitCode: exit.exitCode }),
    ...(exit.signal === null ? {} : { signal: exit.signal }),
    ...(declared === null ? {} : { declared }),
  };
  return defect ? withRemark(facts, ` ($DARUMA_FAILURE was ignored: ${defect})`) : facts;
}

function succeed(attempt: Attempt, stdout: HeadCapture): Outcome<Json> {
  const file = readOutputFile(attempt.outputFile);
  if (file.kind === "invalid") {
    return failed({ code: "OUTPUT_INVALID", message: `$DARUMA_OUTPUT: ${file.defect}`, exitCode: 0 });
  }
  return { kind: "succeeded", output: file.kind === "json" ? file.value : outputOfText(stdout, attempt) };
}

/** The JSON of a failed process: what it wrote to $DARUMA_OUTPUT, else an object or a list that it printed. */
function jsonOf(attempt: Attempt, stdout: HeadCapture): Json | undefined {
  const file = readOutputFile(attempt.outputFile);
  if (file.kind === "json") return file.value;
  const printed = outputOfText(stdout, attempt);
  return typeof printed === "object" && printed !== null ? printed : undefined;
}

function outputOfText(stdout: HeadCapture, { hideSecrets }: Attempt): Json {
  const text = stdout.text(hideSecrets);
  if (!stdout.isCut && text !== "") {
    try {
      const value = JSON.parse(text) as Json;
      // An id of twenty digits is no number that JavaScript can hold: it stays the text that was printed.
      const isKept = typeof value !== "number" || String(value) === text.trim();
      if (isKept && !isDeeperThan(value, MAX_JSON_LEVELS)) return value;
    } catch {
      // Plain text, then.
    }
  }
  return text.replace(/\r?\n$/, "");
}
