import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import type { RunStatus } from "../../core/model/rows.js";
import { strictReason } from "../../tell/words/handled-text.js";

export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  held: 3,
  canceled: 4,
  infrastructure: 5,
  interrupted: 130,
} as const;

/** Codes that are not the fault of the command line or the file. All other refusals before a run are usage errors. */
const INFRASTRUCTURE_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "CLUSTER_UNREACHABLE",
  "INTERNAL",
  "LEASE_LOST",
  "RUN_OWNED",
  "SANDBOX_FAILED",
  "SERVER_STOPPING",
  "SERVER_UNREACHABLE",
  "STORE_DAMAGED",
  "STORE_FAILED",
  "STORE_GONE",
  "STORE_READ_ONLY",
  "STORE_VERSION",
  "WORKSPACE_GIT_FAILED",
]);

export function exitCodeOfStatus(status: RunStatus): number {
  switch (status) {
    case "completed":
      return EXIT.completed;
    case "failed":
      return EXIT.failed;
    case "held":
    case "paused":
      return EXIT.held;
    case "canceled":
      return EXIT.canceled;
    case "pending":
    case "running":
      return EXIT.infrastructure;
  }
}

/** What determines the exit code besides the status. */
type EndedRun = Parameters<typeof strictReason>[0] & {
  readonly status: RunStatus;
  readonly strict: boolean;
  /** Child runs that keep this run from ending. */
  readonly held_below: readonly unknown[];
};

/** The exit code for a run. With `--strict` the run keeps its status, and only this code differs. */
export function exitCodeOfRun(run: EndedRun): number {
  if (run.held_below.length > 0) return EXIT.held;
  const isFailure = run.status === "completed" && run.strict && strictReason(run) !== null;
  return isFailure ? EXIT.failed : exitCodeOfStatus(run.status);
}

export function exitCodeOfError(error: unknown): number {
  return error instanceof DarumaError && !INFRASTRUCTURE_CODES.has(error.code)
    ? EXIT.usage
    : EXIT.infrastructure;
}
