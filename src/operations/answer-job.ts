import { randomUUID } from "node:crypto";
import type { Context } from "./context.js";
import { requireJob } from "./job-report.js";
import { redacted } from "./operator-words.js";
import { putCommand } from "./put-command.js";

export interface AnswerRequest {
  readonly job_id: number;
  readonly choice: string;
  readonly text: string;
  readonly key?: string | undefined;
}

/** The word of a person for a human step. */
export async function answerJob(
  context: Context,
  { job_id, choice, text, key = randomUUID() }: AnswerRequest,
) {
  const job = await requireJob(context.store, job_id);
  const words = await redacted(context.store, job.run_id, text);
  const answer = await putCommand(context, job.run_id, {
    type: "human.answer",
    job: job.id,
    choice,
    text: words,
    key,
  });
  const { before, status, changed, owner } = answer;
  return {
    run_id: job.run_id,
    job_id,
    step: job.step,
    scope: job.scope,
    choice,
    before,
    status,
    changed: [...changed],
    key,
    owner: owner === null ? null : { host: owner.host, pid: owner.pid },
  };
}
