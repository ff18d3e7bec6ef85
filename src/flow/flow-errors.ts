import type { ErrorRecord, Failure, FailureClass } from "../core/model/failure.js";
import type { RunReport } from "../tell/run-report.js";

/** A called step has not completed, whatever its retries, repairs and people did. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";

  /** A program may have another copy of this library than the process that executes it. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return isNamed(error, "StepFailed");
  }

  readonly code: string;

  constructor(
    /** The step as it was called. */
    readonly step: string,
    readonly scope: string,
    /** The error record; null: it was given up before it failed. */
    readonly record: Failure | null,
    /** Attempts in all. */
    readonly attempts: number,
    readonly jobId: number,
    readonly runId: number,
  ) {
    super(`${step}: ${record?.message ?? "it did not complete"}`);
    this.code = record?.code ?? "FAILED";
  }

  get class(): FailureClass {
    return this.record?.class ?? "application";
  }
}

/** The run is being canceled: throw it on; every further call is rejected with it as well. */
export class FlowCanceled extends Error {
  override readonly name = "FlowCanceled";

  static override [Symbol.hasInstance](error: unknown): boolean {
    return isNamed(error, "FlowCanceled");
  }

  constructor(readonly reason: string) {
    super(`the run is canceled: ${reason}`);
  }
}

/** What `output` rejects with where the run did not complete. */
export class FlowFailed extends Error {
  override readonly name = "FlowFailed";
  readonly runId: number;
  readonly status: RunReport["status"];
  readonly error: ErrorRecord | null;

  constructor(
    flow: string,
    readonly report: RunReport,
  ) {
    const { run_id: runId, status, error } = report;
    super(
      `run ${runId} of ${flow} is ${status}${error === null ? "" : `: ${error.message} (${error.code})`}`,
    );
    this.runId = runId;
    this.status = status;
    this.error = error;
  }
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
