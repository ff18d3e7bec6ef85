import { existsSync } from "node:fs";
import { DEFAULT_MAX_LOG_BYTES } from "../../core/model/definition.js";
import type { FailureFacts } from "../../core/model/failure.js";
import { createRedactor, type Redactor } from "../../core/redaction/redaction.js";
import { closeLogs, type LogFile, MAX_TAIL_BYTES, openLogFile } from "../action/log-file.js";
import { LogQuota } from "../action/log-limits.js";
import type { Assignment } from "../worker.js";
import { type AttemptName, logFile, runLogFolder } from "./attempt-paths.js";
import type { OutputPiece } from "./local-worker-options.js";

/** For how many runs it is remembered whether their folder already existed. */
const MAX_KNOWN_RUNS = 1_000;

/**
 * Finds logs of an earlier database whose runs had the same numbers, so that they are not mistaken for an attempt's
 * output. The check is made once per run, not per attempt: a folder that did not exist contains only logs of this
 * worker.
 */
export class EarlierLogs {
  private readonly hadFolder = new Map<number, boolean>();

  constructor(private readonly base: string) {}

  /** Paths where an old log may exist. */
  of(name: AttemptName, stream: "stdout" | "stderr"): string[] {
    return this.hadFolderOf(name.runId) ? [logFile(this.base, name, stream)] : [];
  }

  private hadFolderOf(runId: number): boolean {
    const known = this.hadFolder.get(runId);
    if (known !== undefined) return known;
    const had = existsSync(runLogFolder(this.base, runId));
    if (this.hadFolder.size >= MAX_KNOWN_RUNS) this.hadFolder.clear();
    this.hadFolder.set(runId, had);
    return had;
  }
}

interface AttemptLogsPorts {
  readonly base: string;
  readonly redactor: Redactor;
  readonly earlier: EarlierLogs;
  /** Receives the printed output, redacted. */
  readonly listener: ((piece: OutputPiece) => void) | null;
  readonly onShortage: (error: unknown) => void;
}

/** The two files for an attempt's output. */
export class AttemptLogs {
  readonly stdout: LogFile;
  readonly stderr: LogFile;

  constructor(
    private readonly assignment: Assignment,
    private readonly ports: AttemptLogsPorts,
  ) {
    const quota = new LogQuota(assignment.maxLogBytes ?? DEFAULT_MAX_LOG_BYTES);
    this.stdout = this.open("stdout", quota);
    this.stderr = this.open("stderr", quota);
  }

  get tails(): Pick<FailureFacts, "stdoutTail" | "stderrTail"> {
    return { stdoutTail: this.stdout.tail(MAX_TAIL_BYTES), stderrTail: this.stderr.tail(MAX_TAIL_BYTES) };
  }

  /** Returns the error if something could not be written; null if all is written. */
  async close(signal: AbortSignal): Promise<unknown> {
    const failure = await closeLogs([this.stdout, this.stderr], signal);
    for (const stream of ["stdout", "stderr"] as const) this.tell(stream, null);
    return failure;
  }

  private open(stream: "stdout" | "stderr", quota: LogQuota): LogFile {
    const { base, redactor, earlier, listener, onShortage } = this.ports;
    return openLogFile(logFile(base, this.assignment, stream), redactor.stream(), {
      // A recovery script's file shows that it ran, even if it is empty.
      create: this.assignment.recovery ? "now" : "on_first_byte",
      quota,
      leftovers: earlier.of(this.assignment, stream),
      listener: listener === null ? null : (bytes) => this.tell(stream, bytes),
      onShortage,
    });
  }

  private tell(stream: "stdout" | "stderr", bytes: Uint8Array | null): void {
    const { jobId, stepId: step, recovery } = this.assignment;
    this.ports.listener?.({ jobId, step, recovery, stream, bytes });
  }
}

/** Redactors for workflows' secrets, with values from one environment. Each set of names gets one. */
export class Redactors {
  private readonly known = new Map<string, Redactor>();

  constructor(private readonly env: { readonly [name: string]: string | undefined }) {}

  for(secrets: readonly string[]): Redactor {
    const key = secrets.join("\0");
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const made = createRedactor(
      secrets.flatMap((name) => (this.env[name] ? [{ name, value: this.env[name] }] : [])),
    );
    this.known.set(key, made);
    return made;
  }
}
