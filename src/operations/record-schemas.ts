import { z } from "zod";
import type { ErrorRecord } from "../core/model/failure.js";
import { FAILURE_CLASSES } from "../core/model/failure.js";
import { jobStatus, owner } from "./schemas.js";

const failureClass = z.enum(FAILURE_CLASSES);

const errorFields = z
  .object({
    code: z.string().describe("Stable; programs match on it."),
    class: failureClass,
    message: z.string(),
    retryable: z.boolean(),
    final: z.boolean().describe("The step itself reported that a retry is useless."),
    action: z.string().nullable(),
    step_id: z.string().nullable().describe("Null: an error of the run, not of a step."),
    job_id: z.number().nullable(),
    attempt: z.number().nullable().describe("Null: no attempt in this visit."),
    timestamp: z.string().describe("ISO 8601."),
    exit_code: z.number().nullable(),
    signal: z.string().nullable(),
    retry_after_ms: z.number().nullable(),
    signature: z.string().describe("Equal for equal failures, ignoring times, paths and ids."),
    stdout_tail: z.string().describe("The last 8 KB, redacted."),
    stderr_tail: z.string(),
    stack_trace: z.string().nullable(),
    diff_hash: z.string().nullable(),
    changed_files: z.array(z.string()),
    resource_limit: z
      .object({ amount: z.number(), cluster: z.string().nullable() })
      .optional()
      .describe("After OOM or WALLTIME: the most that the cluster gives a job."),
    original_class: failureClass.nullable(),
    cause: z
      .lazy((): z.ZodType => error.nullable())
      .describe("The failure of the last attempt, if something else ended the job."),
  })
  .meta({ id: "ErrorRecord", description: "A failure. The record is the same wherever it is shown." });

/** The record of a failure. */
export const error = errorFields as unknown as z.ZodType<ErrorRecord, ErrorRecord>;

/** A job, the same in every answer. */
export const job = z.object({
  id: z.number(),
  run_id: z.number(),
  workflow: z.string(),
  workflow_id: z.number(),
  step: z.string(),
  name: z.string().describe("The step."),
  scope: z.string(),
  status: jobStatus,
  attempts: z.number().describe("The number of attempts so far."),
  attempt_id: z
    .number()
    .describe("The current attempt, from 1: the last one, or the next one while the job is ready."),
  visits: z.number(),
  handled: z.boolean(),
  dead_letter: z.boolean(),
  taken_over: z.boolean().describe("It completed in another run and did not run again."),
  due_at: z.string().nullable(),
  error: error.nullable().describe("Why the job, or its last attempt, failed."),
  failure_handler_id: z.number().nullable(),
});

export const expiry = z
  .object({
    at: z.string(),
    action: z.enum(["fail", "skip", "retry", "complete", "choose"]),
    choice: z.string().nullable().describe("What counts as the answer to a question; null: nothing does."),
  })
  .nullable()
  .describe("When a hold or question ends by itself, and how; null: it waits until somebody decides.");

/** A job that waits for somebody. */
/** Steps that cannot run because of a job: how many, the first of them, of how many. */
export const blocks = z.object({
  steps: z.number(),
  names: z.array(z.string()).readonly(),
  layers: z.array(z.number()).readonly().describe("Beside the names: how many steps away each is."),
  of: z.number(),
});

export const waitingJob = job.extend({
  kind: z.enum(["hold", "question"]),
  since: z.string().describe("When it was held or asked; ISO 8601."),
  blocks: blocks.describe("What waits for it in its run."),
  error_lines: z.array(z.string()).readonly().describe("The lines it printed last that look like errors."),
  question: z
    .object({ prompt: z.string(), choices: z.array(z.string()) })
    .nullable()
    .describe("What a human step asks; null for a hold."),
  expiry,
  decisions: z.array(
    z.object({
      decision: z.string().describe("A choice of the question; of a hold: retry, fail or skip."),
      operation: z.enum(["answer_job", "classify_and_resolve_failures"]),
      input: z.record(z.string(), z.unknown()).describe("The input of the operation."),
    }),
  ),
  owner: owner.describe(
    "The process that goes on with the run by itself once it is decided; null: the run must be resumed.",
  ),
});
