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
    final: z.boolean().describe("The step itself said that trying again is useless."),
    action: z.string().nullable(),
    step_id: z.string().nullable().describe("Null: the run's own error, of no step in particular."),
    job_id: z.number().nullable(),
    attempt: z.number().nullable().describe("Null: there was none in this visit."),
    timestamp: z.string().describe("ISO 8601."),
    exit_code: z.number().nullable(),
    signal: z.string().nullable(),
    retry_after_ms: z.number().nullable(),
    signature: z.string().describe("The same for the same failure, whatever its times, paths and ids."),
    stdout_tail: z.string().describe("The last 8 KB, redacted."),
    stderr_tail: z.string(),
    stack_trace: z.string().nullable(),
    diff_hash: z.string().nullable(),
    changed_files: z.array(z.string()),
    original_class: failureClass.nullable(),
    cause: z
      .lazy((): z.ZodType => error.nullable())
      .describe("Where something else ended the job: the failure of its last attempt."),
  })
  .meta({ id: "ErrorRecord", description: "What is known of a failure, the same wherever one is shown." });

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
  attempts: z.number().describe("How many it has had."),
  attempt_id: z
    .number()
    .describe("The attempt that it is at, from 1: the last one, or while it is ready the next."),
  visits: z.number(),
  handled: z.boolean(),
  dead_letter: z.boolean(),
  due_at: z.string().nullable(),
  error: error.nullable().describe("Why it failed, or its last attempt did."),
  failure_handler_id: z.number().nullable(),
});

/** A job that waits for somebody. */
export const waitingJob = job.extend({
  kind: z.enum(["hold", "question"]),
  since: z.string().describe("When it was held or asked; ISO 8601."),
  question: z
    .object({ prompt: z.string(), choices: z.array(z.string()) })
    .nullable()
    .describe("What a human step asks; null for a hold. `due_at` is when it gives up waiting."),
  decisions: z.array(
    z.object({
      decision: z.string().describe("A choice of the question; of a hold: retry, fail or skip."),
      operation: z.enum(["answer_job", "classify_and_resolve_failures"]),
      input: z.record(z.string(), z.unknown()).describe("What the operation takes, as it is."),
    }),
  ),
  owner: owner.describe(
    "The process that goes on with the run by itself once it is decided; null: the run must be resumed.",
  ),
});
