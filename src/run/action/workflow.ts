import { DarumaError, WORKFLOW_FILE_ERRORS } from "../../core/errors/errors.js";
import type { UncleanChild } from "../../core/model/events.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Json } from "../../core/text/json.js";
import { type Action, type Attempt, stoppedResult } from "./action.js";

/** How a child run went. */
export interface ChildResult {
  readonly runId: number;
  readonly status: string;
  /** Outputs by step of the child's root scope. */
  readonly outputs: { readonly [step: string]: Json };
  /** Null: it was clean, or has not completed. */
  readonly below: UncleanChild | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface ChildRequest {
  /** `attempt`: the first of those that are for the same child run, the present one or one that was lost before it. */
  readonly parent: { readonly runId: number; readonly jobId: number; readonly attempt: number };
  readonly file: string;
  /** Relative files start here. */
  readonly folder: string;
  readonly inputs: { readonly [name: string]: Json };
}

/** Runs child runs to their end. One that a lost attempt of the same job made is gone on with, or its outcome taken. */
export interface ChildRuns {
  run(request: ChildRequest, signal: AbortSignal): Promise<ChildResult>;
}

/** Troubles of the store or of ownership are another matter: those pass. */
const NEVER_BEGAN: ReadonlySet<string> = new Set([
  ...Object.keys(WORKFLOW_FILE_ERRORS),
  "CHILD_OUTSIDE",
  "FOLDER_NEEDED",
  "EXPRESSION_TOO_LONG",
  "MISSING_SECRET",
  "PACKAGE_MISSING",
]);

/** `workflow`: another file as a child run. Its failure is this step's, and climbs this run's ladder. */
export function createWorkflowAction(children: ChildRuns): Action {
  return {
    type: "workflow",
    async run(attempt) {
      const { file, inputs } = attempt.action;
      const request = {
        parent: {
          runId: attempt.runId,
          jobId: attempt.jobId,
          attempt: attempt.childSince ?? attempt.attempt,
        },
        file: String(file),
        folder: attempt.cwd,
        inputs: asInputs(inputs),
      };
      const child = await children
        .run(request, attempt.signal)
        .catch((error: unknown) => invalidChild(error));
      if ("failure" in child) return { kind: "failed", facts: child.failure };
      attempt.writeStdout(new TextEncoder().encode(`run ${child.runId} ${child.status}\n`));
      if (child.status !== "completed") return failureOf(attempt, child);
      const output = { run_id: child.runId, outputs: child.outputs };
      return { kind: "succeeded", output, ...(child.below === null ? {} : { below: child.below }) };
    },
  };
}

/** The child could not even begin: its file, its inputs or its place is wrong, and trying again would not help. */
function invalidChild(error: unknown): { failure: FailureFacts } {
  if (!(error instanceof DarumaError) || !NEVER_BEGAN.has(error.code)) throw error;
  return { failure: { code: "CHILD_INVALID", message: `${error.code}: ${error.message}` } };
}

function failureOf(attempt: Attempt, child: ChildResult): Awaited<ReturnType<Action["run"]>> {
  // A child that was asked to end is canceled; one that has failed had done so before.
  const failedBefore = attempt.signal.reason === "stopped" && child.status === "failed";
  if (attempt.signal.aborted && !failedBefore) return stoppedResult(attempt);
  const why = child.error === null ? child.status : `${child.error.code}: ${child.error.message}`;
  return {
    kind: "failed",
    facts: { code: "CHILD_FAILED", message: `child run ${child.runId} is ${child.status} (${why})` },
  };
}

function asInputs(inputs: Json | undefined): { readonly [name: string]: Json } {
  return inputs !== null && typeof inputs === "object" && !Array.isArray(inputs)
    ? (inputs as { readonly [name: string]: Json })
    : {};
}
