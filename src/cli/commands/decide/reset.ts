import { DarumaError } from "../../../core/errors/errors.js";
import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { tellAndGoOn } from "../../tell-change.js";
import { choosesByFailure, refuseCampaignFlags, startFiltered } from "./campaign.js";

/** What failed unhandled, was canceled or is held begins anew; what completed stays. */
export const reset: Present = async (given, session, client) => {
  const { input, flags } = given;
  if (choosesByFailure(flags)) {
    const run_id = input.run_id as InputOf<"start_campaign">["run_id"];
    return startFiltered(given, session, client, { action: "retry", run_id });
  }
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
