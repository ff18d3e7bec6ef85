import { z } from "zod";
import { type ErrorRecord, FAILURE } from "../core/model/failure.js";
import type { Shape } from "../core/text/shape.js";
import { JOB_RECORD } from "../report/job-record.js";
import { zodFields, zodOf } from "../worker/zod-of.js";
import { owner } from "./schemas.js";

/** The record of a failure. */
export const error = zodOf<ErrorRecord>(FAILURE as Shape as Shape<ErrorRecord>, { others: "dropped" });
z.globalRegistry.add(error, {
  id: "ErrorRecord",
  description: "A failure. The record is the same wherever it is shown.",
});

/** A job, the same in every answer. */
export const job = z.object({
  ...zodFields(JOB_RECORD, { others: "dropped" }),
  error: error.nullable().describe("Why the job, or its last attempt, failed."),
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
      operation: z.enum(["answer_job", "resolve_holds"]),
      input: z.record(z.string(), z.unknown()).describe("The input of the operation."),
    }),
  ),
  owner: owner.describe(
    "The process that goes on with the run by itself once it is decided; null: the run must be resumed.",
  ),
});
