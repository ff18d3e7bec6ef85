import { randomUUID } from "node:crypto";
import { findJob, type JobRequest } from "../../report/lookup/choose-job.js";
import type { Context } from "../context.js";
import { redacted } from "../operator-words.js";
import { putCommand } from "../put-command.js";

export interface AnswerRequest extends JobRequest {
  readonly choice: string;
  readonly text: string;
  readonly reason: string;
  readonly key?: string | undefined;
}

/** The word of a person for a human step. */
export async function answerJob(context: Context, { choice, key = randomUUID(), ...said }: AnswerRequest) {
  const job = await findJob(context.store, said);
  const text = await redacted(context.store, job.run_id, said.text);
  const reason = await redacted(context.store, job.run_id, said.reason);
  const answer = await putCommand(context, job.run_id, {
    type: "human.answer",
    job: job.id,
    choice,
    text,
    reason,
    key,
  });
  const { before, status, changed, owner } = answer;
  return {
    run_id: job.run_id,
    job_id: job.id,
    step: job.step,
    scope: job.scope,
    choice,
    before,
    status,
    changed: [...changed],
    reason,
    key,
    owner: owner === null ? null : { host: owner.host, pid: owner.pid },
  };
}
