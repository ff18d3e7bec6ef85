import { existsSync, mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Action, ActionResult, Attempt, StopCause } from "../action/action.js";
import { emptyLogsMade, openLogFile } from "../action/log-file.js";
import { endProcessesWithToken } from "../action/process/attempt-processes.js";
import type { AttemptResult } from "../core/commands.js";
import type { FailureFacts } from "../core/failure.js";
import { truncateHeadTail } from "../core/head-tail.js";
import { createRedactor, type Redactor } from "../core/redaction.js";
import { LOCAL_WORKER_PREFIX } from "../core/worker-names.js";
import { attemptEnvironment, inheritedEnvironment } from "./attempt-environment.js";
import { resultOfOutput } from "./attempt-output.js";
import { logFile, logFolder, outputArtifact } from "./attempt-paths.js";
import { AttemptTimers, type TimerPort } from "./attempt-timers.js";
import { type FailureContextFiles, writeFailureContext } from "./failure-context-files.js";
import { writeFailureSummary } from "./failure-summary-file.js";
import { LocalRoom } from "./local-room.js";
import { ResourceLimits } from "./resource-limits.js";
import { makeScratchFolder } from "./scratch-folder.js";
import { workFolder } from "./work-folder.js";
import type { Assignment, HeldAttempt, Needs, Place, Report, Worker } from "./worker.js";

export interface LocalWorkerOptions {
  readonly actions: readonly Action[];
  /** Where logs and artifacts go. */
  readonly outputDir: string;
  readonly clock: TimerPort;
  /** Slots; the number of cores unless told. 0: only steps that take none, such as child runs. */
  readonly maxParallel?: number;
  /** What steps with `runs_on` may ask for. */
  readonly tags?: readonly string[];
  readonly env?: { readonly [name: string]: string | undefined };
  /** For $DARUMA_API_URL; empty where there is no server. A server knows its own only once it listens. */
  readonly apiUrl?: string | (() => string);
}

/** Of each stream, what an error record keeps. */
const TAIL_BYTES = 8 * 1024;
/** Of a message or a stack; an action may give any length, and each goes into the log and every row. */
const MAX_ERROR_TEXT_CHARS = 4 * 1024;

/** Executes attempts in this process's own name: logs, timers and redaction around an action. */
export class LocalWorker implements Worker {
  readonly name = `${LOCAL_WORKER_PREFIX}${process.pid}`;
  private readonly room: LocalRoom;
  private readonly actions: ReadonlyMap<string, Action>;
  private readonly env: { readonly [name: string]: string | undefined };
  private readonly inherited: { readonly [name: string]: string };
  private readonly redactors = new Map<string, Redactor>();
  private scratch: string | null = null;

  constructor(private readonly options: LocalWorkerOptions) {
    this.room = new LocalRoom(this.name, options.maxParallel ?? availableParallelism());
    this.actions = new Map(options.actions.map((action) => [action.type, action]));
    this.env = { ...(options.env ?? process.env) };
    this.inherited = inheritedEnvironment(this.env);
    mkdirSync(logFolder(options.outputDir), { recursive: true, mode: 0o700 });
  }

  get slots(): number {
    return this.room.slots;
  }

  get used(): number {
    return this.room.used;
  }

  get tags(): readonly string[] {
    return this.options.tags ?? [];
  }

  /** Tags are looked at when the attempt begins: a lone worker that lacks one must say so, not wait for ever. */
  place(needs: Needs): Place | "full" | null {
    return this.room.place(needs);
  }

  release(place: Place): void {
    this.room.release(place);
  }

  async execute(assignment: Assignment, _place: Place | null, signal: AbortSignal): Promise<Report> {
    const { clock } = this.options;
    const startedAt = clock.elapsed();
    const result = await this.attempt(assignment, signal).catch((error: unknown) =>
      this.notKept(assignment, error),
    );
    return { result, durationMs: Math.round(clock.elapsed() - startedAt) };
  }

  /** What ran in a process that is gone has gone with it. */
  adopt(_attempt: HeldAttempt, _signal: AbortSignal): null {
    return null;
  }

  /** Room appears only with a report. */
  onRoom(_listener: () => void): () => void {
    return () => {};
  }

  async endLeftovers(token: string): Promise<void> {
    if (token !== "") await endProcessesWithToken(token);
  }

  async close(): Promise<void> {
    await emptyLogsMade();
    if (this.scratch !== null) rmSync(this.scratch, { recursive: true, force: true });
  }

  /** The redactor for a workflow's secrets, as this worker's environment gives them. */
  redactorFor(secrets: readonly string[]): Redactor {
    const key = secrets.join("\0");
    let redactor = this.redactors.get(key);
    if (redactor === undefined) {
      redactor = createRedactor(
        secrets.flatMap((name) => (this.env[name] ? [{ name, value: this.env[name] }] : [])),
      );
      this.redactors.set(key, redactor);
    }
    return redactor;
  }

  private async attempt(assignment: Assignment, signal: AbortSignal): Promise<AttemptResult> {
    const redactor = this.redactorFor(assignment.secrets);
    const create = this.actions.get(assignment.action.type)?.silent === true ? "on_first_byte" : "now";
    const stdout = openLogFile(
      logFile(this.options.outputDir, assignment, "stdout"),
      redactor.stream(),
      create,
    );
    const stderr = openLogFile(
      logFile(this.options.outputDir, assignment, "stderr"),
      redactor.stream(),
      create,
    );
    const controller = new AbortController();
    const stop = (cause: StopCause): void => controller.abort(cause);
    const onAbort = (): void => stop("stopped");
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const timers = new AttemptTimers(this.options.clock, assignment, stop);
    const limits = new ResourceLimits(this.options.clock, assignment, () => stop("timeout"));
    const write = (log: typeof stdout) => (chunk: Uint8Array) => {
      timers.signOfLife();
      log.write(chunk);
    };
    let result: ActionResult;
    try {
      result = await this.act(assignment, controller.signal, {
        stdout: write(stdout),
        stderr: write(stderr),
      });
    } catch (error) {
      result = {
        ok: false,
        failure: {
          message: messageOf(error),
          ...(error instanceof Error && error.stack ? { stack: error.stack } : {}),
        },
      };
    }
    timers.clear();
    limits.clear();
    signal.removeEventListener("abort", onAbort);
    const logError = await closeAll([stdout, stderr]);
    if (signal.aborted) return { kind: "stopped" };
    const failed = (facts: FailureFacts): Promise<AttemptResult> =>
      this.failed(assignment, redactor, facts, signal);
    if (logError !== null) return failed(notWritten("the log", logError));
    const tails = { stdoutTail: stdout.tail(TAIL_BYTES), stderrTail: stderr.tail(TAIL_BYTES) };
    if (limits.exceeded !== null) return failed({ ...tails, ...limits.exceeded });
    if (!result.ok) return failed({ ...tails, ...result.failure });
    let checked: AttemptResult;
    try {
      checked = resultOfOutput(
        redactor.redactJson(result.output),
        assignment.outputSchema,
        outputArtifact(this.options.outputDir, assignment),
      );
    } catch (error) {
      return failed({ ...tails, ...notWritten("the output", error) });
    }
    return checked.kind === "failed" ? failed({ ...tails, ...checked.facts }) : checked;
  }

  /** The last resort: nobody waits for an attempt that rejects. */
  private notKept(assignment: Assignment, error: unknown): AttemptResult {
    const { message, ...facts } = notWritten("what the attempt left", error);
    return {
      kind: "failed",
      facts: { ...facts, message: this.redactorFor(assignment.secrets).redact(message) },
    };
  }

  /** The facts without secrets, and a summary of them beside the logs. */
  private async failed(
    assignment: Assignment,
    redactor: Redactor,
    facts: FailureFacts,
    signal: AbortSignal,
  ): Promise<AttemptResult> {
    // Cut after redaction: half a secret would no longer be recognised.
    const shown = withShortTexts(redactor.redactJson(facts as never) as unknown as FailureFacts);
    if (assignment.recovery) return { kind: "failed", facts: shown };
    const env = { ...this.inherited, ...assignment.env };
    const command = this.actions.get("command") ?? null;
    // A summary is a convenience: without it the failure is still the same failure.
    await writeFailureSummary({
      base: this.options.outputDir,
      assignment,
      facts: shown,
      redactor,
      command,
      env,
      signal,
    }).catch(() => {});
    return { kind: "failed", facts: shown };
  }

  private async act(
    assignment: Assignment,
    signal: AbortSignal,
    write: { stdout: (chunk: Uint8Array) => void; stderr: (chunk: Uint8Array) => void },
  ): Promise<ActionResult> {
    if (assignment.failedAlready !== null) return { ok: false, failure: assignment.failedAlready };
    const missing = assignment.secrets.filter((name) => !this.env[name]);
    if (missing.length > 0)
      return { ok: false, failure: { code: "MISSING_SECRET", message: `not set: ${missing.join(", ")}` } };
    const lacking = assignment.runsOn.filter((tag) => !this.tags.includes(tag));
    if (lacking.length > 0 && !assignment.recovery)
      return { ok: false, failure: { code: "NO_WORKER", message: noSuchTags(lacking) } };
    const action = this.actions.get(assignment.action.type);
    if (action === undefined)
      return {
        ok: false,
        failure: {
          code: "UNKNOWN_ACTION",
          message: `no action of type ${assignment.action.type} is registered`,
        },
      };
    let scratch: string;
    let cwd: string;
    let context: FailureContextFiles | null;
    try {
      scratch = join(this.scratchFolder(), `j${assignment.jobId}_a${assignment.attempt}`);
      cwd = workFolder(this.options.outputDir, assignment);
      context = writeFailureContext(this.options.outputDir, assignment);
    } catch (error) {
      return { ok: false, failure: notWritten("what the attempt needs", error) };
    }
    const files = {
      output: `${scratch}.output`,
      failure: `${scratch}.failure`,
      failureContext: context?.file ?? null,
    };
    const { apiUrl = "" } = this.options;
    const attempt: Attempt = {
      ...assignment,
      cwd,
      variables:
        context === null ? assignment.variables : { ...assignment.variables, failure: context.variable },
      env: attemptEnvironment(this.inherited, assignment, files, {
        base: this.options.outputDir,
        apiUrl: typeof apiUrl === "string" ? apiUrl : apiUrl(),
      }),
      writeStdout: write.stdout,
      writeStderr: write.stderr,
      outputFile: files.output,
      failureFile: files.failure,
      signal,
    };
    try {
      return await action.run(attempt);
    } finally {
      if (action.silent !== true) for (const file of [files.output, files.failure]) removeIfThere(file);
    }
  }

  /** Raw step outputs lie here until they are read and redacted: out of the output folder, readable by nobody else. */
  private scratchFolder(): string {
    this.scratch ??= makeScratchFolder();
    return this.scratch;
  }
}

/** Most steps write neither file, and an error with its stack costs more than a look. */
function removeIfThere(path: string): void {
  if (existsSync(path)) rmSync(path, { force: true });
}

async function closeAll(logs: readonly { close(): Promise<void> }[]): Promise<unknown> {
  let failure: unknown = null;
  for (const log of logs) {
    await log.close().catch((error: unknown) => {
      failure ??= error;
    });
  }
  return failure;
}

function notWritten(what: string, error: unknown): FailureFacts {
  return { code: "LOG_FAILED", message: `${what} could not be written: ${messageOf(error)}` };
}

function withShortTexts(facts: FailureFacts): FailureFacts {
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

function shorten(text: string): string {
  return truncateHeadTail(text, MAX_ERROR_TEXT_CHARS).text;
}

function noSuchTags(tags: readonly string[]): string {
  return `the step runs on ${tags.join(", ")}, which this worker does not offer`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
