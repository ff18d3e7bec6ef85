import { z } from "zod";
import { operation } from "../operation.js";
import { commandDone, commandJob, jobNamed } from "../put-command.js";
import { dryRun, jobId, key, reason, runOfJob } from "../schemas.js";

const input = z.strictObject({
  job_id: jobId,
  run_id: runOfJob,
  choice: z.string().min(1).max(1_000).describe("One of the step's choices, such as approve or reject."),
  text: z.string().max(100_000).default("").describe("A comment; it becomes part of the step's output."),
  reason,
  key,
  dry_run: dryRun,
});

export const answerJob = operation({
  name: "answer_job",
  summary: "answer the question of a human step",
  description:
    "Answers a waiting human step. The choice must be one of the step's choices. Choice and text become the step's output; a rejecting choice fails the step.",
  role: "operator",
  effect: "changes",
  input,
  output: z.object({ ...jobNamed, choice: z.string(), ...commandDone }),
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
  handler: async (context, { choice, text, ...asked }) => {
    const done = await commandJob(context, asked, ({ id: job }, said, words) => {
      return { type: "human.answer", job, choice, text: words.redact(text), ...said };
    });
    return { ...done, choice };
  },
});
