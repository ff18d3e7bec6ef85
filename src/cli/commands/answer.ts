import { chooseJob } from "../../operations/choose-job.js";
import { nameOf } from "../../operations/job-name.js";
import { redacted } from "../../operations/operator-words.js";
import type { Session } from "../channel.js";
import { type OperatorFlags, operate } from "../operate.js";
import type { RunReference } from "../run-reference.js";

export interface AnswerFlags extends Omit<OperatorFlags, "reason"> {
  readonly choose: string;
  readonly text?: string;
  readonly scope?: string;
}

/** The word of a person for a human step. */
export function answer(
  reference: RunReference,
  step: string,
  flags: AnswerFlags,
  session: Session,
): Promise<number> {
  const words = flags.key === undefined ? {} : { key: flags.key };
  return operate(session, reference, words, async ({ store, runId, key }) => {
    const scope = flags.scope === undefined ? {} : { scope: flags.scope };
    const job = chooseJob(await store.readJobs(runId), { runId, name: step, ...scope });
    const text = await redacted(store, runId, flags.text ?? "");
    return {
      action: "answer",
      command: { type: "human.answer", job: job.id, choice: flags.choose, text, key },
      sentence: () => `${nameOf(job.step, job.scope)} is answered: ${flags.choose}`,
    };
  });
}
