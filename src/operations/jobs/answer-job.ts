import { randomUUID } from "node:crypto";
import { z } from "zod";
import { findJob } from "../../report/lookup/choose-job.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { redacted } from "../operator-words.js";
import { putCommand, tryCommand } from "../put-command.js";
import { dryRun, jobChange, jobId, key, owner, reason, runOfJob, runStatus } from "../schemas.js";

const input = z.strictObject({
  job_id: jobId,
  run_id: runOfJob,
  choice: z.string().min(1).max(1_000).describe("One of the step's choices, such as approve or reject."),
  text: z.string().max(100_000).default("").describe("A comment; it becomes part of the step's output."),
  reason,
  key,
  dry_run: dryRun,
});
type AnswerRequest = z.output<typeof input>;

export const answerJob = operation({
  name: "answer_job",
  summary: "answer the question of a human step",
  description:
    "Answers a waiting human step. The choice must be one of the step's choices. Choice and text become the step's output; a rejecting choice fails the step.",
  role: "operator",
  effect: "changes",
  input,
  output: z.object({
    run_id: z.number(),
    job_id: z.number(),
    step: z.string(),
    scope: z.string(),
    choice: z.string(),
    dry_run: z.boolean(),
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
  handler: answer,
});

/** The word of a person for a human step. */
async function answer(context: Context, { choice, key = randomUUID(), ...said }: AnswerRequest) {
  const job = await findJob(context.store, said);
  const text = await redacted(context.store, job.run_id, said.text);
  const reason = await redacted(context.store, job.run_id, said.reason);
  const command = { type: "human.answer", job: job.id, choice, text, reason, key } as const;
  const { dry_run } = said;
  const answer = await (dry_run
    ? tryCommand(context.store, job.run_id, command)
    : putCommand(context, job.run_id, command));
  const { before, status, changed, owner } = answer;
  return {
    run_id: job.run_id,
    job_id: job.id,
    step: job.step,
    scope: job.scope,
    choice,
    dry_run,
    before,
    status,
    changed,
    reason,
    key,
    owner: owner === null ? null : { host: owner.host, pid: owner.pid },
  };
}
