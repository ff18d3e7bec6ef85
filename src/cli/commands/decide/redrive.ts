import { DarumaError } from "../../../core/errors/errors.js";
import type { InputOf } from "../../../operations/client.js";
import { nameOf } from "../../../report/lookup/job-name.js";
import { jobPlace } from "../../declare/job-words.js";
import type { Given, Present } from "../../declare/presenter.js";
import { tellChange } from "../../tell-change.js";
import { startCampaign } from "./campaign.js";

/** A dead letter goes back into the queue; without a job, all failed jobs that match do, as a campaign. */
export const redrive: Present = async (given, session, client) => {
  const { args, input, flags } = given;
  const words = (args[0] ?? []) as string[];
  if (words.length === 0) return startCampaign({ ...given, input: filterOf(flags) }, session, client);
  const reason = flags.reason === undefined ? {} : { reason: flags.reason };
  const request = { ...input, ...reason, ...jobPlace(words) } as InputOf<"redrive_job">;
  const answer = await client.call("redrive_job", request);
  return tellChange(
    session,
    client,
    { ...answer, action: "redrive" },
    `${nameOf(answer.step, answer.scope)} of run ${answer.run_id} goes back into the queue with fresh budgets`,
  );
};

const ACTIONS = ["retry", "fail", "skip"] as const;
const FIELDS = {
  ...{ signature: "signature", workflow: "workflow", step: "step", class: "class", since: "since" },
  ...{ canary: "canary", factor: "factor", rate: "rate", stopAt: "stop_at", wait: "wait" },
  ...{ reason: "reason", dryRun: "dry_run" },
} as const;

function filterOf(flags: Given["flags"]): Given["input"] {
  const actions = ACTIONS.filter((action) => flags[action] === true);
  if (actions.length > 1) throw new DarumaError("USAGE", "give one of --retry, --fail and --skip");
  const given = Object.entries(FIELDS).flatMap(([flag, field]) =>
    flags[flag] === undefined ? [] : [[field, flags[flag]] as const],
  );
  return { action: actions[0] ?? "retry", ...Object.fromEntries(given) };
}
