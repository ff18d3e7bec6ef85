import { z } from "zod";
import { answerJob } from "../jobs/answer-job.js";
import { operation } from "../operation.js";
import { jobChange, jobId, key, owner, reason, runOfJob, runStatus } from "./schemas.js";

export const answerJobOperation = operation({
  name: "answer_job",
  summary: "answer the question of a human step",
  description:
    "Answers a human step that waits. The choice must be one of the step's; choice and text become its output, and a choice that rejects fails it.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({
    job_id: jobId,
    run_id: runOfJob,
    choice: z.string().min(1).max(1_000).describe("One of the step's choices, such as approve or reject."),
    text: z.string().max(100_000).default("").describe("More words; they are part of the step's output."),
    reason,
    key,
  }),
  output: z.object({
    run_id: z.number(),
    job_id: z.number(),
    step: z.string(),
    scope: z.string(),
    choice: z.string(),
    before: runStatus,
    status: runStatus,
    changed: z.array(jobChange),
    reason: z.string(),
    key: z.string(),
    owner,
  }),
  rest: { method: "POST", path: "/jobs/{job_id}/answer" },
  cli: [
    {
      words: "answer",
      positional: [],
      examples: [
        "daruma answer 3 release --choose approve",
        'daruma answer last release --choose reject --text "not on a Friday"',
      ],
    },
  ],
  actsOn: (request) => [{ job: request }],
  handler: (context, input) => answerJob(context, input),
});
