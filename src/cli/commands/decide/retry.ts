import { DarumaError } from "../../../core/errors/errors.js";
import type { InputOf } from "../../../operations/client.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import { isGlob } from "../../../tell/lookup/named-jobs.js";
import type { RunReference } from "../../../tell/lookup/run-reference.js";
import type { Present } from "../../declare/presenter.js";
import { tellAndGoOn } from "../../tell-change.js";
import { choosesByFailure, chosenHere, refuseCampaignFlags, startFiltered } from "./campaign.js";

/** Retries a step: with fresh budgets, in a fresh workspace, or as the step where the run goes back to. */
export const retry: Present = async (given, session, client) => {
  const { input, flags } = given;
  const names = (input.step_ids ?? []) as readonly string[];
  const isNamed = input.step_id !== undefined || names.length > 0;
  if (!isNamed && choosesByFailure(flags)) return retryMatching(given, session, client);
  if (!isNamed)
    throw new DarumaError(
      "USAGE",
      "name a run and a step, or choose failed jobs with --signature, --workflow, --step, --class or --since",
      {
        hint: "Such as `daruma retry last build`, or `daruma retry --class transient_runtime --since 2h`.",
      },
    );
  refuseCampaignFlags(flags);
  const { step_ids: _names, ...rest } = input;
  const one = names.length === 1 && !isGlob(names[0]!) ? { ...rest, step_id: names[0] } : null;
  const answer = await client.call("control_run", (one ?? input) as InputOf<"control_run">);
  if (one === null && names.length > 0)
    return tellAndGoOn(session, client, answer, "retried with fresh budgets:", flags);
  const name = nameOf(answer.target!.step, answer.target!.scope);
  return tellAndGoOn(
    session,
    client,
    answer,
    `${name} ${MEANS[answer.action] ?? (answer.changed.every(({ from }) => from === "waiting") ? LET_THROUGH : "is retried with fresh budgets")}`,
    flags,
  );
};

/** Retries every job that matches the flags: by a campaign, or at once if no server runs the run. */
export const retryMatching: Present = async (given, session, client) => {
  const { input, flags } = given;
  const run_id = input.run_id as RunReference | undefined;
  const step_ids = await chosenHere(client, run_id, flags, {});
  if (step_ids === null) return startFiltered(given, session, client, { action: "retry", run_id });
  const { reason, hint, key, dry_run } = input;
  const request = { run_id, action: "retry_step", step_ids, reason, hint, key, dry_run };
  const answer = await client.call("control_run", request as InputOf<"control_run">);
  return tellAndGoOn(session, client, answer, "retried with fresh budgets:", flags);
};

/** The job waited for a breaker. Nothing has finally failed, so its budgets are unchanged. */
const LET_THROUGH = "no longer waits for its breaker and starts as soon as a worker has room";

const MEANS: { readonly [action: string]: string } = {
  resume_from_step: "and everything that depends on it run again",
  hard_reset_step: "runs again in a fresh workspace",
};
