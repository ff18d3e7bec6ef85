import { DarumaError } from "../../../core/errors/errors.js";
import type { InputOf } from "../../../operations/client.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import { jobPlace } from "../../declare/job-words.js";
import type { Given, Present } from "../../declare/presenter.js";
import { tellChange } from "../../tell-change.js";
import { refuseCampaignFlags, startFiltered } from "./campaign.js";

/** Puts a dead letter back into the queue. Without a job, starts a campaign for all failed jobs that match. */
export const redrive: Present = async (given, session, client) => {
  const { args, input, flags } = given;
  const words = (args[0] ?? []) as string[];
  if (words.length === 0) return startFiltered(given, session, client, { action: actionOf(flags) });
  refuseCampaignFlags(flags);
  const reason = flags.reason === undefined ? {} : { reason: flags.reason };
  const request = {
    ...input,
    ...reason,
    ...jobPlace(words),
  } as InputOf<"redrive_job">;
  const answer = await client.call("redrive_job", request);
  return tellChange(
    session,
    client,
    { ...answer, action: "redrive" },
    `${nameOf(answer.step, answer.scope)} of run ${answer.run_id} goes back into the queue with fresh budgets`,
  );
};

const ACTIONS = ["retry", "fail", "skip"] as const;

function actionOf(flags: Given["flags"]): (typeof ACTIONS)[number] {
  const actions = ACTIONS.filter((action) => flags[action] === true);
  if (actions.length > 1) throw new DarumaError("USAGE", "give one of --retry, --fail and --skip");
  return actions[0] ?? "retry";
}
