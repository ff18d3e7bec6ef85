import { DarumaError } from "../../../core/errors/errors.js";
import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { tellAndGoOn } from "../../tell-change.js";
import { choosesByFailure, refuseCampaignFlags } from "./campaign.js";
import { retryMatching } from "./retry.js";

/** Resets jobs that failed unhandled, were canceled or are held. Completed jobs stay. */
export const reset: Present = async (given, session, client) => {
  const { input, flags } = given;
  if (choosesByFailure(flags)) return retryMatching(given, session, client);
  if (input.run_id === undefined)
    throw new DarumaError(
      "USAGE",
      "name a run, or choose failed jobs with --signature, --workflow, --step, --class or --since",
    );
  refuseCampaignFlags(flags);
  const answer = await client.call("control_run", input as InputOf<"control_run">);
  const sentence =
    answer.changed.length === 0
      ? `run ${answer.run_id} has no failed, canceled or held steps; nothing changed`
      : `run ${answer.run_id}: failed, canceled and held steps run again`;
  return tellAndGoOn(session, client, { ...answer, action: "reset" }, sentence, flags);
};
