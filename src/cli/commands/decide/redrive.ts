import type { InputOf } from "../../../operations/client.js";
import { nameOf } from "../../../report/lookup/job-name.js";
import { jobPlace } from "../../declare/job-words.js";
import type { Present } from "../../declare/presenter.js";
import { tellChange } from "../../tell-change.js";

/** A dead letter goes back into the queue. */
export const redrive: Present = async ({ args, input }, session, client) => {
  const request = { ...input, ...jobPlace(args[0] as string[]) } as InputOf<"redrive_job">;
  const answer = await client.call("redrive_job", request);
  return tellChange(
    session,
    client,
    { ...answer, action: "redrive" },
    `${nameOf(answer.step, answer.scope)} of run ${answer.run_id} goes back into the queue with fresh budgets`,
  );
};
