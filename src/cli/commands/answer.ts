import { nameOf } from "../../operations/job-name.js";
import type { RunReference } from "../../operations/run-reference.js";
import { findJobs } from "../find-job.js";
import type { Present } from "../presenters.js";
import { tellChange } from "../tell-change.js";

interface AnswerFlags {
  readonly choose: string;
  readonly text?: string;
  readonly scope?: string;
  readonly reason?: string;
  readonly key?: string;
}

/** The word of a person for a human step. */
export const answer: Present = async ({ args, flags }, session, client) => {
  const { choose, text, scope, reason, key } = flags as unknown as AnswerFlags;
  const [reference, step] = args as [RunReference, string];
  const [job] = await findJobs(client, reference, [step], scope);
  const given = await client.call("answer_job", { job_id: job!.id, choice: choose, text, reason, key });
  return tellChange(
    session,
    client,
    { ...given, action: "answer" },
    `${nameOf(given.step, given.scope)} is answered: ${choose}`,
  );
};
