import { mkdirSync, mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Action, ActionResult, Attempt, StopCause } from "../action/action.js";
import { openLogFile } from "../action/log-file.js";
import { endProcessesWithToken } from "../action/process/attempt-processes.js";
import type { AttemptResult } from "../core/commands.js";
import type { FailureFacts } from "../core/failure.js";
import { createRedactor, type Redactor } from "../core/redaction.js";
import { attemptEnvironment, inheritedEnvironment } from "./attempt-environment.js";
import { resultOfOutput } from "./attempt-output.js";
import { logFile, logFolder, outputArtifact } from "./attempt-paths.js";
import { AttemptTimers, type TimerPort } from "./attempt-timers.js";
import type { Assignment, Report, Worker } from "./worker.js";

export interface LocalWorkerOptions {
  readonly actions: readonly Action[];
  /** Where logs and artifacts go. */
  readonly outputDir: string;
  readonly clock: TimerPort;
  readonly maxParallel?: number;
  readonly env?: { readonly [name: string]: string | undefined };
}

/** Of each stream, what an error record keeps. */
const TAIL_BYTES = 8 * 1024;

/** Executes attempts in this process's own name: logs, timers and redaction around an action. */
export class LocalWorker implements Worker {
  readonly name = `local-${process.pid}`;
  readonly capacity: number;
  private readonly actions: ReadonlyMap<string, Action>;
  private readonly env: { readonly [name: string]: string | undefined };
  private readonly inherited: { readonly [name: string]: string };
  private readonly redactors = new Map<string, Redactor>();
  private scratch: string | null = null;

  constructor(private readonly options: LocalWorkerOptions) {
    this.capacity = options.maxParallel ?? availableParallelism();
    this.actions = new Map(options.actions.map((action) => [action.type, action]));
    this.env = { ...(options.env ?? process.env) };
    this.inherited = inheritedEnvironment(this.env);
    mkdirSync(logFolder(options.outputDir), { recursive: true, mode: 0o700 });
  }

  async execute(assignment: Assignment, signal: AbortSignal): Promise<Report> {
    const startedAt = this.options.clock.now();
    const result = await this.attempt(assignment, signal);
    return { result, durationMs: this.options.clock.now() - startedAt };
  }

  async endLeftovers(token: string): Promise<void> {
    if (token !== "") await endProcessesWithToken(token);
  }

  async close(): Promise<void> {
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
    signal.removeEventListener("abort", onAbort);
    const logError = await closeAll([stdout, stderr]);
    if (signal.aborted) return { kind: "stopped" };
    if (logError !== null)
      return failed(redactor, {
        message: `the log could not be written: ${messageOf(logError)}`,
        code: "LOG_FAILED",
      });
    if (result.ok) {
      const checked = resultOfOutput(
        redactor.redactJson(result.output),
        assignment.outputSchema,
        outputArtifact(this.options.outputDir, assignment),
      );
      return checked.kind === "failed"
        ? failed(redactor, {
            ...checked.facts,
            stdoutTail: stdout.tail(TAIL_BYTES),
            stderrTail: stderr.tail(TAIL_BYTES),
          })
        : checked;
    }
    return failed(redactor, {
      stdoutTail: stdout.tail(TAIL_BYTES),
      stderrTail: stderr.tail(TAIL_BYTES),
      ...result.failure,
    });
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
    const action = this.actions.get(assignment.action.type);
    if (action === undefined)
      return {
        ok: false,
        failure: {
          code: "UNKNOWN_ACTION",
          message: `no action of type ${assignment.action.type} is registered`,
        },
      };
    const scratch = join(this.scratchFolder(), `j${assignment.jobId}_a${assignment.attempt}`);
    const files = { output: `${scratch}.output`, failure: `${scratch}.failure` };
    const attempt: Attempt = {
      ...assignment,
      env: attemptEnvironment(this.inherited, assignment, files, this.options.outputDir),
      writeStdout: write.stdout,
      writeStderr: write.stderr,
      outputFile: files.output,
      failureFile: files.failure,
      signal,
    };
    try {
      return await action.run(attempt);
    } finally {
      if (action.silent !== true) for (const file of Object.values(files)) removeIfThere(file);
    }
  }

  /** Raw step outputs lie here until they are read and redacted: out of the output folder, readable by nobody else. */
  private scratchFolder(): string {
    this.scratch ??= mkdtempSync(join(tmpdir(), "daruma-"));
    return this.scratch;
  }
}

/** Cheaper than rmSync, which looks before it removes. */
function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Most steps write neither file.
  }
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

function failed(redactor: Redactor, facts: FailureFacts): AttemptResult {
  return { kind: "failed", facts: redactor.redactJson(facts as never) as unknown as FailureFacts };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
