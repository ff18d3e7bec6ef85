import { DarumaError } from "../../../core/errors/errors.js";
import type { InputOf } from "../../../operations/client.js";
import { nameOf } from "../../../report/lookup/job-name.js";
import type { Present } from "../../declare/presenter.js";
import { tellChange } from "../../tell-change.js";
import { choosesByFailure, refuseCampaignFlags, startFiltered } from "./campaign.js";

/** A step again: with fresh budgets, in a fresh workspace, or as where the run goes back to. */
export const retry: Present = async (given, session, client) => {
  const { input, flags } = given;
  if (input.step_id === undefined && choosesByFailure(flags)) {
    const run_id = input.run_id as InputOf<"start_campaign">["run_id"];
    return startFiltered(given, session, client, { action: "retry", run_id });
  }
  if (input.step_id === undefined)
    throw new DarumaError(
      "USAGE",
      "name a run and a step, or choose failed jobs with --signature, --workflow, --step, --class or --since",
      {
        hint: "Such as `daruma retry last build`, or `daruma retry --class transient_runtime --since 2h`.",
      },
    );
  refuseCampaignFlags(flags);
  const answer = await client.call("control_run", input as InputOf<"control_run">);
  const name = nameOf(answer.target!.step, answer.target!.scope);
  return tellChange(
    session,
    client,
    answer,
    `${name} ${MEANS[answer.action] ?? (answer.changed.every(({ from }) => from === "waiting") ? LET_THROUGH : "is retried with fresh budgets")}`,
  );
};

/** It waited for a breaker: nothing has failed for good, so its budgets stay as they are. */
const LET_THROUGH = "no longer waits for its breaker and starts as soon as a worker has room";

const MEANS: { readonly [action: string]: string } = {
  resume_from_step: "and everything that depends on it run again",
  hard_reset_step: "runs again in a fresh workspace",
};
