import type { InputOf } from "../../../operations/client.js";
import { nameOf } from "../../../report/lookup/job-name.js";
import type { Present } from "../../declare/presenter.js";
import { tellChange } from "../../tell-change.js";

/** A step again: with fresh budgets, in a fresh workspace, or as where the run goes back to. */
export const retry: Present = async ({ input }, session, client) => {
  const answer = await client.call("control_run", input as InputOf<"control_run">);
  const name = nameOf(answer.target!.step, answer.target!.scope);
  return tellChange(
    session,
    client,
    answer,
    `${name} ${MEANS[answer.action] ?? "is retried with fresh budgets"}`,
  );
};

const MEANS: { readonly [action: string]: string } = {
  resume_from_step: "and everything that depends on it run again",
  hard_reset_step: "runs again in a fresh workspace",
};
