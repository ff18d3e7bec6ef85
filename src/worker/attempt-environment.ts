import { outputFolder } from "./attempt-paths.js";
import type { Assignment } from "./worker.js";

export interface AttemptFiles {
  readonly output: string;
  readonly failure: string;
}

/**
 * What a step's process finds in its environment: the worker's own (without Daruma's tokens and addresses), then the
 * file's and the step's, then DARUMA_*.
 */
export function attemptEnvironment(
  inherited: { readonly [name: string]: string | undefined },
  assignment: Assignment,
  files: AttemptFiles,
  base: string,
): { [name: string]: string } {
  const env: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !name.startsWith("DARUMA_")) env[name] = value;
  }
  return Object.assign(env, assignment.env, {
    DARUMA_WORKFLOW_ID: String(assignment.workflowId),
    DARUMA_RUN_ID: String(assignment.runId),
    DARUMA_JOB_ID: String(assignment.jobId),
    DARUMA_JOB_NAME: assignment.stepId,
    DARUMA_ATTEMPT_ID: String(assignment.attempt),
    DARUMA_ATTEMPT_TOKEN: assignment.token,
    DARUMA_OUTPUT_DIR: outputFolder(base),
    DARUMA_OUTPUT: files.output,
    DARUMA_FAILURE: files.failure,
  });
}
