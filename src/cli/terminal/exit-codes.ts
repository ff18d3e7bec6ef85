import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import type { RunStatus } from "../../core/model/rows.js";

export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  held: 3,
  canceled: 4,
  infrastructure: 5,
  interrupted: 130,
} as const;

/** Not the fault of the command line or the file. Everything else that is refused before a run is bad usage. */
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

/** What an exit code is made from beside the status. */
interface EndedRun {
  readonly status: RunStatus;
  readonly strict: boolean;
  readonly handled_failures: readonly unknown[];
  /** Child runs in which failures were handled, or that are open. */
  readonly handled_in_children: readonly unknown[];
  /** Child runs that hold it up. */
  readonly held_below: readonly unknown[];
}

/** A run keeps its status with `--strict`; only the answer to whoever waits for its end is another. */
export function exitCodeOfRun(run: EndedRun): number {
  if (run.held_below.length > 0) return EXIT.held;
  const handled = run.handled_failures.length + run.handled_in_children.length;
  return run.status === "completed" && run.strict && handled > 0 ? EXIT.failed : exitCodeOfStatus(run.status);
}

export function exitCodeOfError(error: unknown): number {
  return error instanceof DarumaError && !INFRASTRUCTURE_CODES.has(error.code)
    ? EXIT.usage
    : EXIT.infrastructure;
}
