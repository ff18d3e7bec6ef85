import type { InputOf } from "../../../operations/client.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import type { Present } from "../../declare/presenter.js";
import { tellChange } from "../../tell-change.js";

/**
 * Pauses a run: nothing new starts until somebody resumes it. A takeover is a pause with which an operator claims the
 * run.
 */
export const pause: Present = async ({ input }, session, client) => {
  const answer = await client.call("control_run", input as InputOf<"control_run">);
  const { run_id, status, running, owner, action, target } = answer;
  const what =
    status === "paused" ? `is paused${action === "takeover" ? ", taken over" : ""}` : `is ${status}`;
  const still = running > 0 && owner !== null ? `; running steps may finish (${running})` : "";
  const hint =
    target === null || input.hint === undefined
      ? ""
      : `; the next attempt of ${nameOf(target.step, target.scope)} hears the hint`;
  return tellChange(session, client, answer, `run ${run_id} ${what}${still}${hint}`);
};
