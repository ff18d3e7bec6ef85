import type { InputOf } from "../../operations/client.js";
import { nameOf } from "../../operations/job-name.js";
import type { Present } from "../presenters.js";
import { tellChange } from "../tell-change.js";

/** A failed step again with all budgets anew; with --force back to any step, and forward again from there. */
export const retry: Present = async ({ input }, session, client) => {
  const answer = await client.call("control_run", input as InputOf<"control_run">);
  const name = nameOf(answer.target!.step, answer.target!.scope);
  const sentence =
    answer.action === "resume_from_step"
      ? `${name} and what depends on it run again`
      : `${name} is retried, with all budgets anew`;
  return tellChange(session, client, answer, { sentence, isKeyGiven: input.key !== undefined });
};
