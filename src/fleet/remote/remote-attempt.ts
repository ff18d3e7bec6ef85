import { existsSync, rmSync } from "node:fs";
import type { Outcome } from "../../core/model/outcome.js";
import { logFile, outputArtifact, summaryArtifact } from "../../run/worker/attempt-paths.js";
import type { Assignment } from "../../run/worker.js";
import { type Held, stream } from "../desk/protocol.js";
import { AttemptLog } from "./attempt-log.js";
import type { Moment } from "./elapsed.js";

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
