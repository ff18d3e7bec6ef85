import { DEFAULT_MAX_LOG_BYTES } from "../../core/model/definition.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Redactor } from "../../core/redaction/redaction.js";
import { closeLogs, type LogFile, MAX_TAIL_BYTES, openLogFile } from "../action/log-file.js";
import { LogQuota } from "../action/log-quota.js";
import type { Assignment } from "../worker.js";
import { logFile } from "./attempt-paths.js";
import type { OutputPiece } from "./local-worker-options.js";
import type { EarlierLogs } from "./logs/earlier-logs.js";

export interface AttemptLogsPorts {
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
