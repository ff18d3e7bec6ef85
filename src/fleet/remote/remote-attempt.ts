import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from "node:fs";
import type { Outcome } from "../../core/model/outcome.js";
import { logFile, outputArtifact, summaryArtifact } from "../../run/worker/attempt-paths.js";
import type { Assignment } from "../../run/worker.js";
import { type Held, type Stream, stream } from "../desk/protocol.js";
import type { Moment } from "./worker-clock.js";

/** A log that grows here and must be sent to the server completely. */
class AttemptLog {
  /** How much of it the server has. */
  sent = 0;

  constructor(
    readonly file: string,
    readonly stream: Stream,
  ) {}

  get size(): number {
    return statSync(this.file, { throwIfNoEntry: false })?.size ?? 0;
  }

  get exists(): boolean {
    return statSync(this.file, { throwIfNoEntry: false }) !== undefined;
  }

  /** The next unsent bytes, up to a limit. */
  next(limit: number): Buffer {
    const length = Math.min(limit, this.size - this.sent);
    if (length <= 0) return Buffer.alloc(0);
    const fd = openSync(this.file, "r");
    try {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(fd, bytes, 0, length, this.sent));
    } finally {
      closeSync(fd);
    }
  }
}

/** An attempt that this worker holds. It runs, or has ended and waits until the server has its result. */
export class RemoteAttempt {
  readonly controller = new AbortController();
  readonly logs: readonly AttemptLog[];
  outcome: Outcome | null = null;
  /** Set when the output has been sent, if it is a file. */
  isOutputSent = false;
  isReporting = false;
  /** How often sending the result has failed. */
  tries = 0;

  constructor(
    readonly assignment: Assignment,
    private readonly base: string,
    /** When the request was sent whose answer granted or renewed the lease. */
    public renewedAt: Moment,
  ) {
    this.logs = stream.options.map((which) => new AttemptLog(logFile(base, assignment, which), which));
  }

  get token(): string {
    return this.assignment.token;
  }

  get held(): Held {
    const { jobId: job, attempt, recovery, token } = this.assignment;
    return { job, attempt, recovery, token };
  }

  get summaryFile(): string {
    return summaryArtifact(this.base, this.assignment);
  }

  get outputFile(): string {
    return outputArtifact(this.base, this.assignment);
  }

  /** Removes the files, because the server has everything. */
  removeFiles(): void {
    const files = [...this.logs.map(({ file }) => file), this.summaryFile, this.outputFile];
    // Most attempts leave none of them, and checking costs less than an error.
    for (const file of files) if (existsSync(file)) rmSync(file, { force: true });
  }
}
