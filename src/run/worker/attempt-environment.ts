import type { Assignment } from "../worker.js";
import { outputFolder } from "./attempt-paths.js";

export interface AttemptFiles {
  readonly output: string;
  readonly failure: string;
  /** Set if a failure led to the attempt. */
  readonly failureContext: string | null;
  /** Set if an earlier attempt failed. */
  readonly retryContext: string | null;
  readonly hint: string | null;
  /** The patch of earlier attempts whose changes are not in the working folder. */
  readonly previousPatch: string | null;
}

/** Where the attempt runs, and where the worker keeps its files and outputs. */
export interface AttemptPlace {
  readonly cwd: string;
  readonly base: string;
  readonly apiUrl: string;
}

/** The environment that steps inherit from the worker: everything except Daruma's own tokens and addresses. */
export function inheritedEnvironment(env: { readonly [name: string]: string | undefined }): {
  readonly [name: string]: string;
} {
  const inherited: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !name.startsWith("DARUMA_")) inherited[name] = value;
  }
  return inherited;
}

/** The environment of a step's process: what it inherits, then the file's and the step's variables, then DARUMA_*. */
export function attemptEnvironment(
  inherited: { readonly [name: string]: string },
  assignment: Assignment,
  files: AttemptFiles,
  { cwd, base, apiUrl }: AttemptPlace,
): { [name: string]: string } {
  const told = {
    DARUMA_WORKFLOW_ID: String(assignment.workflowId),
    DARUMA_JOB_ID: String(assignment.jobId),
    DARUMA_JOB_NAME: assignment.stepId,
    DARUMA_ATTEMPT_ID: String(assignment.attempt),
    DARUMA_RETURN_CODE: assignment.returnCode === null ? "" : String(assignment.returnCode),
    DARUMA_OUTPUT_DIR: outputFolder(base),
    DARUMA_API_URL: apiUrl,
  };
  return Object.assign({}, inherited, assignment.env, {
    // As a shell would set it. The worker's own value names another folder.
    PWD: cwd,
    ...told,
    ...(assignment.asTorc === true ? torcNames(told) : {}),
    DARUMA_RUN_ID: String(assignment.runId),
    DARUMA_ATTEMPT_TOKEN: assignment.token,
    DARUMA_OUTPUT: files.output,
    DARUMA_FAILURE: files.failure,
    ...(assignment.gpus === undefined ? {} : { CUDA_VISIBLE_DEVICES: assignment.gpus.join(",") }),
    ...endNames(assignment.runEnd),
    ...(files.failureContext === null ? {} : { DARUMA_FAILURE_CONTEXT: files.failureContext }),
    ...(files.retryContext === null ? {} : { DARUMA_RETRY_CONTEXT: files.retryContext }),
    ...(files.hint === null ? {} : { DARUMA_HINT: withoutNul(files.hint) }),
    ...(files.previousPatch === null ? {} : { DARUMA_PREVIOUS_PATCH: files.previousPatch }),
  });
}

/** How the run ends, for undo and finally steps. */
function endNames(end: Assignment["runEnd"]): { [name: string]: string } {
  if (end === undefined) return {};
  const { status, error } = end;
  return {
    DARUMA_RUN_STATUS: status,
    DARUMA_RUN_ERROR_CODE: error?.code ?? "",
    DARUMA_RUN_ERROR_MESSAGE: withoutNul(error?.message ?? ""),
  };
}

/** Replaces NULs, which an environment variable cannot contain. */
function withoutNul(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

function torcNames(told: { readonly [name: string]: string }): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(told).map(([name, value]) => [name.replace("DARUMA_", "TORC_"), value]),
  );
}

/** Computes a value on the first call and keeps it. */
export function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
